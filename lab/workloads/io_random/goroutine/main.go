// The io-random workload on goroutines, each of which reads by a system call that blocks. workload.hpp beside this
// directory says what is measured.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	harness "heddle/lab/harness/go"
)

const blockBytes = 4096

// block is the one that read number index is of: SplitMix64's finaliser, as in workload.hpp.
func block(index, blocks uint64) uint64 {
	x := index + 0x9E3779B97F4A7C15
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
	x = (x ^ (x >> 27)) * 0x94D049BB133111EB
	return (x ^ (x >> 31)) % blocks
}

// create makes the file in TMPDIR; or in the current directory; or, where that is another user's, in /var/tmp, which is on a disk.
func create() (*os.File, error) {
	if directory := os.Getenv("TMPDIR"); directory != "" {
		return os.CreateTemp(directory, "heddle-io.")
	}
	file, err := os.CreateTemp(".", "heddle-io.")
	if err != nil {
		file, err = os.CreateTemp("/var/tmp", "heddle-io.")
	}
	return file, err
}

// scratch makes the file, block i full of the number i, and opens it for reading. It has no name afterwards.
func scratch(blocks uint64, direct bool) (int, error) {
	file, err := create()
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	content := make([]byte, blockBytes)
	for i := uint64(0); i < blocks; i++ {
		for at := 0; at < blockBytes; at += 8 {
			binary.LittleEndian.PutUint64(content[at:], i)
		}
		if _, err := file.Write(content); err != nil {
			return 0, err
		}
	}
	if err := file.Sync(); err != nil {
		return 0, err
	}
	flags := syscall.O_RDONLY | syscall.O_CLOEXEC
	if direct {
		flags |= syscall.O_DIRECT
	}
	return syscall.Open(file.Name(), flags, 0)
}

// result is what has been read: how often rightly, and the sum of the reads' numbers.
type result struct{ right, indices uint64 }

// strand reads until there is nothing left to be read.
func strand(fd int, next *int64, count int64, blocks uint64, buffer []byte, all *result) {
	for {
		i := uint64(atomic.AddInt64(next, 1) - 1)
		if i >= uint64(count) {
			return
		}
		expected := block(i, blocks)
		bytes, err := syscall.Pread(fd, buffer, int64(expected*blockBytes))
		first := binary.LittleEndian.Uint64(buffer)
		last := binary.LittleEndian.Uint64(buffer[blockBytes-8:])
		if err == nil && bytes == blockBytes && first == expected && last == expected {
			atomic.AddUint64(&all.right, 1)
		}
		atomic.AddUint64(&all.indices, i)
	}
}

func run(fd int, count int64, blocks uint64, depth int) (all result, err error) {
	// Mapped: O_DIRECT wants memory that begins at a multiple of a block.
	memory, err := syscall.Mmap(-1, 0, depth*blockBytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return all, err
	}
	var next int64
	var ended sync.WaitGroup
	ended.Add(depth)
	for i := 0; i < depth; i++ {
		buffer := memory[i*blockBytes : (i+1)*blockBytes]
		go func() {
			strand(fd, &next, count, blocks, buffer, &all)
			ended.Done()
		}()
	}
	ended.Wait()
	return all, syscall.Munmap(memory)
}

func check(all result, count int64) harness.Oracle {
	reads := uint64(count)
	expected := fmt.Sprintf("%d reads, each of its own block", reads)
	if all.right != reads || all.indices != reads*(reads-1)/2 {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; %d were right, and their numbers add up to %d", expected, all.right, all.indices)}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "file-kilobytes", Default: 65536, Least: 4, Most: 64000000},
		{Name: "count", Default: 200000, Least: 1, Most: 1000000000},
		{Name: "depth", Default: 32, Least: 1, Most: 4096},
		{Name: "cache", Words: []string{"warm", "direct"}},
		{Name: "io", Words: []string{"io_uring", "linux_aio", "threads"}}, // of our own models
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1) // one goroutine runs at a time, as all the others' strands
	count, depth := parsed.Integer("count"), int(parsed.Integer("depth"))
	blocks := uint64(parsed.Integer("file-kilobytes")) * 1024 / blockBytes
	if blocks == 0 {
		blocks = 1
	}
	fd, err := scratch(blocks, parsed.Values["cache"] == "direct")
	if err == syscall.EINVAL {
		return harness.Sample{}, harness.Missing("no O_DIRECT on this file system: set TMPDIR to one on a disk")
	}
	if err != nil {
		return harness.Sample{}, err
	}
	if parsed.Integer("warmup") != 0 {
		if _, err := run(fd, 10, blocks, 2); err != nil {
			return harness.Sample{}, err
		}
	}
	sample := parsed.Sample("io-random")
	var all result
	var failed error
	sample.Measure(func(*harness.Region) { all, failed = run(fd, count, blocks, depth) })
	if failed != nil {
		return harness.Sample{}, failed
	}
	sample.Oracle = check(all, count)
	wall := sample.Metrics["wall_ns"]
	sample.Metrics["read_ns"] = wall / float64(count)
	sample.Metrics["reads_per_s"] = float64(count) * 1e9 / wall
	sample.Metrics["cpu_ns"] = (sample.Counters["user_ns"] + sample.Counters["sys_ns"]) / float64(count)
	return sample, nil
}

func main() { harness.Main(program) }
