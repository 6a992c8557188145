// The idle workload on goroutines. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	harness "heddle/lab/harness/go"
)

// idle is what there was while all waited, and how many ended before they were let go, and altogether.
type idle struct {
	empty, full  map[string]float64
	early, ended int64
}

func run(strands int64) (idle, error) {
	var done idle
	var err error
	if done.empty, err = harness.ProcessSize(); err != nil {
		return done, err
	}
	var begun, all sync.WaitGroup
	begun.Add(int(strands))
	all.Add(int(strands))
	gate := make(chan struct{})
	for i := int64(0); i < strands; i++ {
		go func() {
			begun.Done()
			<-gate
			atomic.AddInt64(&done.ended, 1)
			all.Done()
		}()
	}
	begun.Wait()
	done.full, err = harness.ProcessSize()
	done.early = atomic.LoadInt64(&done.ended)
	close(gate)
	all.Wait()
	return done, err
}

func check(done idle, strands int64) harness.Oracle {
	expected := fmt.Sprintf("%d strands waited at once, then ended", strands)
	if done.early != 0 || done.ended != strands {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; %d ended before they were let go, %d altogether", expected, done.early, done.ended)}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "strands", Default: 1000, Least: 1, Most: 10000000},
		{Name: "warmup", Default: 0, Least: 0, Most: 1}, // would leave memory behind: there is none
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1)
	strands := parsed.Integer("strands")
	sample := parsed.Sample("idle")
	var done idle
	sample.Measure(func(*harness.Region) { done, err = run(strands) })
	if err != nil {
		return harness.Sample{}, err
	}
	sample.Oracle = check(done, strands)
	grown := func(name string) float64 { return done.full[name] - done.empty[name] }
	each := float64(strands)
	both := grown("VmRSS") + grown("VmPTE")
	sample.Metrics["strand_bytes"] = both / each
	sample.Metrics["rss_bytes"] = grown("VmRSS") / each
	sample.Counters["page_table_bytes"] = grown("VmPTE") / each
	sample.Counters["strand_reserved_bytes"] = grown("VmSize") / each
	sample.Metrics["waiting_bytes"] = both
	sample.Metrics["strand_ns"] = sample.Metrics["wall_ns"] / each
	sample.Counters["alive"] = each
	return sample, nil
}

func main() { harness.Main(program) }
