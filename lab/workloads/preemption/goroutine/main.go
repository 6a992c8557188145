// The preemption workload on goroutines, one processor. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	harness "heddle/lab/harness/go"
)

// step is a tenth of a microsecond, about, each operation waiting for the one before: as in the C++ models.
func step(value uint64) uint64 {
	for i := 0; i < 64; i++ {
		value = value*6364136223846793005 + 1442695040888963407
	}
	return value
}

// hog computes, without a call that could wait.
func hog(number, steps uint64) uint64 {
	value := number
	for i := uint64(0); i < steps; i++ {
		value = step(value)
	}
	return value
}

// wakes is how late the sleeper ran.
type wakes struct {
	count        int
	late, latest time.Duration
}

func run(hogs, steps uint64, every time.Duration) (sum uint64, slept wakes) {
	computing := int64(hogs)
	results := make([]uint64, hogs)
	var all sync.WaitGroup
	all.Add(int(hogs) + 1)
	asleep := make(chan struct{}, 1) // a new goroutine may jump the queue: the hogs begin once the other sleeps
	go func() {
		defer all.Done()
		asleep <- struct{}{}
		for {
			due := time.Now().Add(every)
			time.Sleep(every)
			late := time.Since(due)
			slept.count++
			slept.late += late
			if late > slept.latest {
				slept.latest = late
			}
			if atomic.LoadInt64(&computing) == 0 {
				return
			}
		}
	}()
	<-asleep
	for i := uint64(0); i < hogs; i++ {
		number := i
		go func() {
			results[number] = hog(number, steps)
			atomic.AddInt64(&computing, -1)
			all.Done()
		}()
	}
	all.Wait()
	for _, result := range results {
		sum += result
	}
	return sum, slept
}

func check(sum uint64, slept wakes, hogs, steps uint64) harness.Oracle {
	var right uint64
	for i := uint64(0); i < hogs; i++ {
		right += hog(i, steps)
	}
	expected := fmt.Sprintf("%d hogs whose results add up to %d, and that the sleeper ran", hogs, right)
	if sum != right || slept.count == 0 {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; they add up to %d, and it ran %d times", expected, sum, slept.count)}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

// restart runs this program anew with asynchronous preemption switched off, which Go reads when it starts; not if
// it is off already.
func restart() error {
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), "GODEBUG=asyncpreemptoff=1"))
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine", "goroutine/cooperative"}, []harness.Parameter{
		{Name: "hogs", Default: 2, Least: 1, Most: 1000},
		{Name: "steps", Default: 200000, Least: 1, Most: 1000000000},
		{Name: "sleep-us", Default: 1000, Least: 1, Most: 1000000},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	if parsed.Model == "goroutine/cooperative" {
		if err := restart(); err != nil {
			return harness.Sample{}, err
		}
	}
	runtime.GOMAXPROCS(1) // as all the others
	hogs, steps := uint64(parsed.Integer("hogs")), uint64(parsed.Integer("steps"))
	every := time.Duration(parsed.Integer("sleep-us")) * time.Microsecond
	sample := parsed.Sample("preemption")
	var sum uint64
	var slept wakes
	sample.Measure(func(*harness.Region) { sum, slept = run(hogs, steps, every) })
	sample.Oracle = check(sum, slept, hogs, steps)
	if slept.count > 0 {
		sample.Metrics["lateness_ns"] = float64(slept.late.Nanoseconds()) / float64(slept.count)
	}
	sample.Metrics["latest_ns"] = float64(slept.latest.Nanoseconds())
	sample.Metrics["wakes"] = float64(slept.count)
	return sample, nil
}

func main() { harness.Main(program) }
