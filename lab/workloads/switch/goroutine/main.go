// The switch workload on goroutines. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

// ring is what the goroutines note their turns in. One runs at a time (GOMAXPROCS is 1).
type ring struct {
	counts     []int64
	last       int   // whose turn was the latest
	outOfOrder int64 // turns that did not follow their predecessor's
}

func newRing(contexts int) *ring {
	return &ring{counts: make([]int64, contexts), last: contexts - 1}
}

func (r *ring) take(self int) {
	before := self - 1
	if before < 0 {
		before = len(r.counts) - 1
	}
	if r.last != before {
		r.outOfOrder++
	}
	r.last = self
	r.counts[self]++
}

// cal is the source's function of that name: it yields, counter times.
func cal(r *ring, self int, counter int64) {
	for i := int64(0); i < counter; i++ {
		r.take(self)
		runtime.Gosched()
	}
}

// run is the source's program with two contexts: one goroutine beside the main one, both yielding. More
// contexts are more goroutines.
func run(r *ring, counter int64, timed *harness.Region) {
	contexts := len(r.counts)
	var others sync.WaitGroup
	others.Add(contexts - 1)
	// The source starts its clock before the go statement.
	if contexts == 2 {
		timed.Begin()
	}
	for i := 1; i < contexts; i++ {
		self := i
		go func() {
			cal(r, self, counter)
			others.Done()
		}()
	}
	if contexts > 2 {
		timed.Begin()
	}
	cal(r, 0, counter)
	others.Wait()
	timed.End()
}

// source is the source's program to the letter, its clock, too: two goroutines that do nothing but yield, and
// the main one's end is the end. Only what proves afterwards that both came to their end is added.
func source(counter int64, timed *harness.Region) []int64 {
	counts := make([]int64, 2)
	var other sync.WaitGroup
	other.Add(1)
	timed.Begin()
	go func() {
		for ; counts[1] < counter; counts[1]++ {
			runtime.Gosched()
		}
		other.Done()
	}()
	for i := int64(0); i < counter; i++ {
		runtime.Gosched()
	}
	timed.End()
	counts[0] = counter
	other.Wait()
	return counts
}

// check is the oracle. Go's scheduler promises no order (every 61st time it looks at its global queue
// first, and a new goroutine jumps the local one), so only the number of turns is right or wrong.
func check(counts []int64, counter int64) harness.Oracle {
	expected := fmt.Sprintf("%d strands ran %d turns each", len(counts), counter)
	for i, count := range counts {
		if count != counter {
			return harness.Oracle{OK: false, Checked: fmt.Sprintf("expected: %s; strand %d ran %d", expected, i, count)}
		}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine", "goroutine/source"}, []harness.Parameter{
		{Name: "contexts", Default: 2, Least: 2, Most: 1000000},
		{Name: "counter", Default: 100000, Least: 1, Most: 1000000000},
		{Name: "style", Words: []string{"direct", "scheduler"}}, // Go has one way: through its scheduler
		{Name: "count-syscalls", Default: 0, Least: 0, Most: 1}, // and this harness does not count them
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	if parsed.Integer("count-syscalls") != 0 {
		fmt.Fprintln(os.Stderr, "note: system calls are not counted for goroutines")
	}
	runtime.GOMAXPROCS(1) // as the source

	contexts, counter := int(parsed.Integer("contexts")), parsed.Integer("counter")
	if parsed.Model == "goroutine/source" && contexts != 2 {
		return harness.Sample{}, harness.Usage("--contexts=%d: the source's program has 2", contexts)
	}
	if parsed.Integer("warmup") != 0 {
		run(newRing(2), 100, &harness.Region{})
	}
	strands := newRing(contexts)
	sample := parsed.Sample("switch")
	sample.Measure(func(timed *harness.Region) {
		if parsed.Model == "goroutine/source" {
			strands.counts = source(counter, timed)
		} else {
			run(strands, counter, timed)
		}
	})
	sample.Oracle = check(strands.counts, counter)

	yields := float64(contexts) * float64(counter)
	sample.Metrics["switches"] = yields
	sample.Metrics["switch_ns"] = sample.Metrics["wall_ns"] / yields
	sample.Metrics["yield_ns"] = sample.Metrics["wall_ns"] / yields
	sample.Counters["strand_switches"] = yields
	sample.Counters["turns_out_of_order"] = float64(strands.outOfOrder)
	return sample, nil
}

func main() { harness.Main(program) }
