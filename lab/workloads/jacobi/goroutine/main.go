// The jacobi workload on goroutines. workload.hpp beside this directory says what is measured.
package main

import (
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

func run(p *problem, library bool) {
	meet := newSemaphoreBarrier(p.strands).meet
	if library {
		meet = newCondBarrier(p.strands).meet
	}
	var all sync.WaitGroup
	all.Add(p.strands)
	for i := 0; i < p.strands; i++ {
		strand := i
		go func() {
			defer all.Done()
			var counted harness.PCount
			p.solve(strand, func() { meet(&counted) })
			p.counted[strand] = counted
		}()
	}
	all.Wait()
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "n", Default: 64, Least: 1, Most: 10000},
		{Name: "strands", Default: 8, Least: 1, Most: 1000},
		{Name: "epsilon", Real: &harness.Real{Default: 1e-4, Least: 1e-12, Most: 1}},
		{Name: "initial", Real: &harness.Real{Least: -1e6, Most: 1e6}},
		{Name: "iterations", Default: 1000000, Least: 1, Most: 1000000000},
		{Name: "processors", Default: 1, Least: 1, Most: 64},
		{Name: "groups", Default: 2, Least: 1, Most: 64},                             // there are none here
		{Name: "barrier", Words: []string{"paper", "waitfor", "watched", "library"}}, // all but the last are one here
		{Name: "strips", Words: []string{"stay", "move"}},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(int(parsed.Integer("processors")))
	library := parsed.Values["barrier"] == "library"
	wanted := settings{
		n:          int(parsed.Integer("n")),
		strands:    int(parsed.Integer("strands")),
		epsilon:    parsed.Real("epsilon"),
		initial:    parsed.Real("initial"),
		limit:      parsed.Integer("iterations"),
		stripsMove: parsed.Values["strips"] == "move",
	}
	small := wanted
	small.limit = 20
	if small.n > 16 {
		small.n = 16
	}
	run(newProblem(small), library) // unmeasured
	p := newProblem(wanted)
	sample := parsed.Sample("jacobi")
	sample.Measure(func(*harness.Region) { run(p, library) })
	sample.Oracle = p.check()
	sample.Result = p.result()
	sample.Counters["iterations"] = float64(p.iterations)
	sample.CountP(p.counted, "meeting", p.iterations)
	points := float64(p.n) * float64(p.n) * float64(p.iterations)
	sample.Metrics["point_ns"] = sample.Metrics["wall_ns"] / points
	return sample, nil
}

func main() { harness.Main(program) }
