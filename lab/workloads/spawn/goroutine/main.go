// The spawn workload on goroutines. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

// tally is what the strands have added to. One runs at a time (GOMAXPROCS is 1), and none is preempted in
// between: it would have to run for 10 ms.
type tally struct{ ran, sum int64 }

func run(strands, outstanding int64) (t tally) {
	for first := int64(0); first < strands; first += outstanding {
		end := first + outstanding
		if end > strands {
			end = strands
		}
		var alive sync.WaitGroup
		alive.Add(int(end - first))
		for i := first; i < end; i++ {
			strand := i
			go func() {
				t.ran++
				t.sum += strand
				alive.Done()
			}()
		}
		alive.Wait()
	}
	return t
}

func check(t tally, strands int64) harness.Oracle {
	right := strands * (strands - 1) / 2
	expected := fmt.Sprintf("%d strands ran, each once", strands)
	if t.ran != strands || t.sum != right {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; %d did, and their numbers add up to %d, not %d", expected, t.ran, t.sum, right)}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "strands", Default: 10000, Least: 1, Most: 100000000},
		{Name: "outstanding", Default: 1, Least: 0, Most: 100000000},
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1) // one at a time, as all the others
	strands, outstanding := parsed.Integer("strands"), parsed.Integer("outstanding")
	if outstanding == 0 || outstanding > strands {
		outstanding = strands
	}
	if parsed.Integer("warmup") != 0 {
		run(100, 10)
	}
	sample := parsed.Sample("spawn")
	var done tally
	sample.Measure(func(*harness.Region) { done = run(strands, outstanding) })
	sample.Oracle = check(done, strands)
	sample.Result = fmt.Sprint(done.sum)
	sample.Metrics["strand_ns"] = sample.Metrics["wall_ns"] / float64(strands)
	sample.Metrics["strand_cpu_ns"] = sample.Metrics["cpu_ns"] / float64(strands)
	return sample, nil
}

func main() { harness.Main(program) }
