// The matrix workload on goroutines. workload.hpp beside this directory says what is measured.
package main

import (
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

// run divides the rows among goroutines. They compute and never wait, so a Go programmer would not have them yield:
// Go has no suspension after each element.
func run(w *work, goroutines int, multiply func(w *work, first, last int)) {
	var all sync.WaitGroup
	all.Add(goroutines)
	for i := 0; i < goroutines; i++ {
		first, last := w.n*i/goroutines, w.n*(i+1)/goroutines
		go func() {
			defer all.Done()
			multiply(w, first, last)
		}()
	}
	all.Wait()
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "n", Default: 256, Least: 1, Most: 10000},
		{Name: "threads", Default: int64(runtime.GOMAXPROCS(0)), Least: 1, Most: 1000},
		{Name: "unit", Words: []string{"element", "dot", "row", "block"}}, // all but the last are one here
		{Name: "seed", Default: 1, Least: 0, Most: 1000000000000},
		{Name: "processors", Least: 0, Most: 64},         // 0: all there are
		{Name: "groups", Default: 2, Least: 1, Most: 64}, // there are none here
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	multiply := multiplyRows
	if parsed.Values["unit"] == "block" {
		multiply = multiplyBlocked
	}
	if used := int(parsed.Integer("processors")); used > 0 {
		runtime.GOMAXPROCS(used)
	}
	n, goroutines, seed := int(parsed.Integer("n")), int(parsed.Integer("threads")), parsed.Integer("seed")
	if parsed.Integer("warmup") != 0 {
		run(newWork(16, seed), goroutines, multiply)
	}
	w := newWork(n, seed)
	sample := parsed.Sample("matrix")
	sample.Measure(func(*harness.Region) { run(w, goroutines, multiply) })
	sample.Oracle = w.check()
	sample.Result = w.result()
	return sample, nil
}

func main() { harness.Main(program) }
