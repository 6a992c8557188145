// The operations of sync-costs on goroutines, one processor. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

// bench is one run: what it did, and whether all came as it should.
type bench struct {
	operation            string
	count                int64
	done, wrong, permits int64
	p                    harness.PCount
}

// pair runs body(0) and body(1) on goroutines of their own.
func pair(body func(int64)) {
	var both sync.WaitGroup
	both.Add(2)
	for who := int64(0); who < 2; who++ {
		go func(who int64) {
			body(who)
			both.Done()
		}(who)
	}
	both.Wait()
}

func (b *bench) run(timed *harness.Region) {
	switch b.operation {
	case "p":
		permits := harness.NewSemaphore(int(b.count), int(b.count))
		timed.Begin()
		for i := int64(0); i < b.count; i++ {
			permits.P(&b.p)
		}
		timed.End()
		b.done, b.permits = b.count, int64(len(permits))
	case "v":
		permits := harness.NewSemaphore(0, int(b.count))
		timed.Begin()
		for i := int64(0); i < b.count; i++ {
			permits.V()
		}
		timed.End()
		b.done, b.permits = b.count, int64(len(permits))
	case "yield":
		timed.Begin()
		pair(func(who int64) {
			for i := who; i < b.count; i += 2 {
				runtime.Gosched()
				b.done++
			}
		})
		timed.End()
	case "handoff":
		semaphores := []harness.Semaphore{harness.NewSemaphore(1, 1), harness.NewSemaphore(0, 1)}
		var counted [2]harness.PCount
		timed.Begin()
		pair(func(who int64) {
			for i := who; i < b.count; i += 2 {
				semaphores[who].P(&counted[who])
				if i != b.done {
					b.wrong++
				}
				b.done = i + 1
				semaphores[1-who].V()
			}
		})
		timed.End()
		b.p = harness.PCount{All: counted[0].All + counted[1].All, Blocked: counted[0].Blocked + counted[1].Blocked}
		// No goroutine waits for the last V any more.
		b.permits = int64(len(semaphores[0])+len(semaphores[1])) - 1
	}
}

func (b *bench) check() harness.Oracle {
	left := int64(0)
	if b.operation == "v" {
		left = b.count
	}
	expected := fmt.Sprintf("%d operations (%s), and %d permits left", b.count, b.operation, left)
	if b.done != b.count || b.wrong != 0 || b.permits != left {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; there were %d, of which %d out of turn, and %d permits", expected, b.done, b.wrong, b.permits)}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	operations := []string{"p", "v", "handoff", "yield"}
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "operation", Words: operations},
		{Name: "count", Default: 100000, Least: 2, Most: 1000000000},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1) // as all the others
	operation, _ := parsed.Values["operation"].(string)
	first := &bench{operation: operation, count: 1000} // first calls
	first.run(&harness.Region{})
	work := &bench{operation: operation, count: parsed.Integer("count")}
	sample := parsed.Sample("sync-costs")
	sample.Measure(work.run)
	sample.Oracle = work.check()
	sample.Metrics["op_ns"] = sample.Metrics["wall_ns"] / float64(work.count)
	sample.Metrics["op_cpu_ns"] = sample.Metrics["cpu_ns"] / float64(work.count)
	sample.CountP([]harness.PCount{work.p}, "operation", work.count)
	return sample, nil
}

func main() { harness.Main(program) }
