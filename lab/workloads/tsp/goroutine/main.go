// The tsp workload on goroutines. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	harness "heddle/lab/harness/go"
)

// result is the shortest tour, how many tasks were taken, and how many beginnings looked at.
type result struct {
	shortest     tour
	tasks, nodes uint64
}

// run lets the goroutines take the tasks out of a channel.
func run(on *cityMap, strands int) result {
	beginning := beginnings(on, tour{}.with(on, 0), 3)
	bag := make(chan tour, len(beginning))
	for _, task := range beginning {
		bag <- task
	}
	close(bag)
	best := record{bound: math.MaxInt32}
	var done result
	var all sync.WaitGroup
	all.Add(strands)
	for i := 0; i < strands; i++ {
		go func() {
			defer all.Done()
			var tasks, nodes uint64
			for task := range bag {
				each := newSearch(on, task, &best)
				each.follow()
				nodes += each.nodes
				tasks++
			}
			atomic.AddUint64(&done.tasks, tasks)
			atomic.AddUint64(&done.nodes, nodes)
		}()
	}
	all.Wait()
	done.shortest = best.shortest
	return done
}

// check leaves it to the comparison with other models whether there is a shorter tour.
func check(on *cityMap, got result) harness.Oracle {
	wrong := func(expected string, values ...interface{}) harness.Oracle {
		return harness.Oracle{Checked: "expected: " + fmt.Sprintf(expected, values...)}
	}
	if tasks := uint64(on.cities-1) * uint64(on.cities-2); got.tasks != tasks {
		return wrong("%d tasks, each taken once; %d were", tasks, got.tasks)
	}
	var walked tour
	var visits uint32
	for _, city := range got.shortest.order[:got.shortest.cities] {
		walked = walked.with(on, int(city))
		visits |= 1 << city
	}
	if got.shortest.cities != on.cities || visits != 1<<on.cities-1 {
		return wrong("a tour through each of %d cities once", on.cities)
	}
	length := walked.length + on.distances[walked.order[walked.cities-1]][0]
	if length != got.shortest.length {
		return wrong("a tour that is as long as it says, %d; it is %d", got.shortest.length, length)
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf(
		"the tour visits each city once, and is as long as it says; all %d tasks were taken", got.tasks)}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "cities", Default: 12, Least: 3, Most: mostCities},
		{Name: "strands", Default: 8, Least: 1, Most: 1000},
		{Name: "seed", Default: 1, Least: 0, Most: 1000000000000},
		{Name: "processors", Default: 1, Least: 1, Most: 64},
		{Name: "groups", Default: 2, Least: 1, Most: 64},    // there are none here,
		{Name: "bag", Words: []string{"shared", "divided"}}, // and all share one
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(int(parsed.Integer("processors")))
	strands, seed := int(parsed.Integer("strands")), uint64(parsed.Integer("seed"))
	run(newCityMap(7, seed), strands) // unmeasured
	on := newCityMap(int(parsed.Integer("cities")), seed)
	sample := parsed.Sample("tsp")
	var got result
	sample.Measure(func(*harness.Region) { got = run(on, strands) })
	sample.Oracle = check(on, got)
	sample.Result = fmt.Sprint(got.shortest.length)
	sample.Counters["nodes"] = float64(got.nodes)
	sample.Metrics["node_ns"] = sample.Metrics["wall_ns"] / float64(got.nodes)
	return sample, nil
}

func main() { harness.Main(program) }
