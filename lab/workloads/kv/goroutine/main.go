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

// result is the digest of workload.cpp: of the final contents, and what the strands read of their own keys.
func result(data guarded, outcomes []outcome, keys int32) string {
	var all harness.Digest
	parts, present := data.contents(), 0
	for _, part := range parts {
		present += len(part)
	}
	all.Add(uint64(present))
	for key := int32(0); key < keys; key++ {
		if stored, there := parts[shardOf(key)%len(parts)][key]; there {
			all.Add(uint64(key))
			all.Add(stored.version)
			all.Add(stored.seal)
		}
	}
	for _, seen := range outcomes {
		all.Add(uint64(seen.own))
	}
	return all.String()
}

// check leaves the rest to the comparison of the result with other models'.
func check(outcomes []outcome) harness.Oracle {
	for i, seen := range outcomes {
		if seen.invalid != 0 {
			return harness.Oracle{Checked: fmt.Sprintf("strand %d read %d values that nobody wrote", i, seen.invalid)}
		}
	}
	return harness.Oracle{OK: true, Checked: "all values that were read had been written"}
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
	sample.Oracle = check(outcomes)
	sample.Result = result(data, outcomes, keys)
	sample.Metrics["operation_ns"] = sample.Metrics["wall_ns"] / float64(parsed.Integer("operations"))
	return sample, nil
}

func main() { harness.Main(program) }
