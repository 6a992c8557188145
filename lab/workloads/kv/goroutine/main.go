// The kv workload on goroutines. workload.hpp beside this directory says what is measured, and why the
// result is known.
package main

import (
	"fmt"
	"sync"

	harness "heddle/lab/harness/go"
)

// run has each strand's operations performed by a goroutine of its own; together, none begins before all
// are there.
func run(data guarded, strands [][]operation, together bool) []outcome {
	outcomes := make([]outcome, len(strands))
	var all sync.WaitGroup
	all.Add(len(strands))
	var there sync.WaitGroup
	there.Add(len(strands))
	for i := range strands {
		i := i
		go func() {
			defer all.Done()
			there.Done()
			if together {
				there.Wait()
			}
			var seen outcome
			for _, each := range strands[i] {
				data.perform(each, int32(i), int32(len(strands)), &seen)
			}
			outcomes[i] = seen
		}()
	}
	all.Wait()
	return outcomes
}

// check is the oracle: the same, strand after strand, on a store of its own.
func check(data guarded, strands [][]operation, outcomes []outcome, keys int32) harness.Oracle {
	wrong := func(format string, arguments ...interface{}) harness.Oracle {
		return harness.Oracle{Checked: fmt.Sprintf(format, arguments...)}
	}
	expected := &whole{data: initial(keys)}
	for i, operations := range strands {
		var replayed outcome
		for _, each := range operations {
			expected.perform(each, int32(i), int32(len(strands)), &replayed)
		}
		if outcomes[i].invalid != 0 {
			return wrong("strand %d read %d values that nobody wrote", i, outcomes[i].invalid)
		}
		if outcomes[i].own != replayed.own {
			return wrong("strand %d did not read what it had written to its own keys", i)
		}
	}
	found := 0
	for _, part := range data.contents() {
		for key, got := range part {
			if stored, there := expected.data[key]; !there || stored != got {
				return wrong("key %d: expected %v, got %v", key, stored, got)
			}
			found++
		}
	}
	if found != len(expected.data) {
		return wrong("expected %d keys; the store holds %d", len(expected.data), found)
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf("the final %d keys and values, and every strand's reads of its own keys, equal those of a sequential replay; all other reads were valid", found)}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "operations", Default: 100000, Least: 1, Most: 100000000},
		{Name: "writes", Real: &harness.Real{Default: 0.5, Most: 1}},
		{Name: "keys", Default: 10000, Least: 1000, Most: 10000000},
		{Name: "strands", Default: 10, Least: 1, Most: 1000},
		{Name: "skew", Real: &harness.Real{Most: 3}},
		{Name: "lock", Words: []string{"mutex", "shared", "sharded"}},
		{Name: "start", Words: []string{"at-once", "together"}},
		{Name: "seed", Default: 1, Least: 0, Most: 1000000000000},
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	keys, lock := int32(parsed.Integer("keys")), parsed.Values["lock"].(string)
	together := parsed.Values["start"] == "together"
	generate := func(operations int64, keys int32) [][]operation {
		return load(operations, parsed.Real("writes"), keys, int32(parsed.Integer("strands")), parsed.Real("skew"), parsed.Integer("seed"))
	}
	if parsed.Integer("warmup") != 0 {
		run(newGuarded(lock, 1000), generate(1000, 1000), together)
	}
	operations := generate(parsed.Integer("operations"), keys)
	data := newGuarded(lock, keys)
	var outcomes []outcome
	sample := parsed.Sample("kv")
	sample.Measure(func(*harness.Region) { outcomes = run(data, operations, together) })
	sample.Oracle = check(data, operations, outcomes, keys)
	sample.Metrics["operation_ns"] = sample.Metrics["wall_ns"] / float64(parsed.Integer("operations"))
	return sample, nil
}

func main() { harness.Main(program) }
