// The rows of coop-speed on goroutines, one processor. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

// bench is one row: what it did, and whether all came as it should.
type bench struct {
	strands, count int64
	done, wrong    int64
	strandBytes    float64
}

func (b *bench) takeTurn(place int64) {
	if place != b.done {
		b.wrong++
	}
	b.done = place + 1
}

// crowd starts strands that wait at a gate until all have come; release lets them go and waits for their end.
func crowd(strands int64, body func()) (release func()) {
	gate := make(chan struct{})
	var arrived, ended sync.WaitGroup
	arrived.Add(int(strands))
	ended.Add(int(strands))
	for i := int64(0); i < strands; i++ {
		go func() {
			arrived.Done()
			<-gate
			body()
			ended.Done()
		}()
	}
	arrived.Wait()
	return func() {
		close(gate)
		ended.Wait()
	}
}

func (b *bench) yields(timed *harness.Region) {
	release := crowd(b.strands, func() {
		for i := int64(0); i < b.count; i++ {
			runtime.Gosched()
			b.done++
		}
	})
	timed.Begin()
	release()
	timed.End()
}

func (b *bench) spawns(timed *harness.Region) {
	timed.Begin()
	for batch := int64(0); batch < b.count; batch++ {
		var ended sync.WaitGroup
		ended.Add(int(b.strands))
		for i := int64(0); i < b.strands; i++ {
			go func() {
				b.done++
				ended.Done()
			}()
		}
		ended.Wait()
	}
	timed.End()
}

// handOvers has a channel with room for one as a semaphore: receiving is P, sending is V.
func (b *bench) handOvers(timed *harness.Region) {
	ping, pong := make(chan struct{}, 1), make(chan struct{}, 1)
	ping <- struct{}{}
	var ended sync.WaitGroup
	ended.Add(2)
	handOver := func(first int64, mine, others chan struct{}) {
		for i := first; i < b.count; i += 2 {
			<-mine
			b.takeTurn(i)
			others <- struct{}{}
		}
		ended.Done()
	}
	timed.Begin()
	go handOver(0, ping, pong)
	go handOver(1, pong, ping)
	ended.Wait()
	timed.End()
}

func (b *bench) channels(timed *harness.Region) {
	values := make(chan int64, 1)
	timed.Begin()
	go func() {
		for i := int64(0); i < b.count; i++ {
			values <- i
		}
		close(values)
	}()
	for value := range values {
		b.takeTurn(value)
	}
	timed.End()
}

func (b *bench) idle(timed *harness.Region) error {
	empty, err := processBytes()
	if err != nil {
		return err
	}
	timed.Begin()
	release := crowd(b.strands, func() { b.done++ })
	full, err := processBytes()
	release()
	timed.End()
	b.strandBytes = (full - empty) / float64(b.strands)
	return err
}

// processBytes is the resident memory and the page tables that map it.
func processBytes() (float64, error) {
	size, err := harness.ProcessSize()
	return size["VmRSS"] + size["VmPTE"], err
}

func (b *bench) operations(row string) int64 {
	switch row {
	case "yield", "spawn":
		return b.strands * b.count
	case "idle":
		return b.strands
	}
	return b.count
}

func (b *bench) run(row string, timed *harness.Region) error {
	switch row {
	case "yield":
		b.yields(timed)
	case "spawn":
		b.spawns(timed)
	case "handoff":
		b.handOvers(timed)
	case "channel":
		b.channels(timed)
	case "idle":
		return b.idle(timed)
	}
	return nil
}

func (b *bench) check(row string) harness.Oracle {
	expected := fmt.Sprintf("%d operations of row %s", b.operations(row), row)
	if b.done != b.operations(row) || b.wrong != 0 {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; there were %d, of which %d were out of turn", expected, b.done, b.wrong)}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "row", Words: []string{"yield", "spawn", "handoff", "channel", "idle"}},
		{Name: "strands", Default: 10, Least: 2, Most: 2000000},
		{Name: "count", Default: 100000, Least: 1, Most: 1000000000},
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1) // one strand at a time, as all the others
	row, _ := parsed.Values["row"].(string)
	if parsed.Integer("warmup") != 0 && row != "idle" {
		small := &bench{strands: 10, count: 100}
		if err := small.run(row, &harness.Region{}); err != nil {
			return harness.Sample{}, err
		}
	}
	work := &bench{strands: parsed.Integer("strands"), count: parsed.Integer("count")}
	sample := parsed.Sample("coop-speed")
	var failed error
	sample.Measure(func(timed *harness.Region) { failed = work.run(row, timed) })
	if failed != nil {
		return harness.Sample{}, failed
	}
	sample.Oracle = work.check(row)
	sample.Metrics["operations"] = float64(work.operations(row))
	sample.Metrics["op_ns"] = sample.Metrics["wall_ns"] / float64(work.operations(row))
	sample.Metrics["op_cpu_ns"] = sample.Metrics["cpu_ns"] / float64(work.operations(row))
	if row == "idle" {
		sample.Metrics["strand_bytes"] = work.strandBytes
	}
	return sample, nil
}

func main() { harness.Main(program) }
