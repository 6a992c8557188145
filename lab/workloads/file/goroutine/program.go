package file

import (
	"fmt"
	"os"
	"sync"

	harness "heddle/lab/harness/go"
)

type kind uint8

const (
	read kind = iota
	write
	search
	kinds
)

type operation struct {
	what   kind
	target record // of a write: with the version to write
}

// outcome is what a strand saw.
type outcome struct {
	failed int
	own    harness.Digest // of the versions read of its own records
}

// work is the operations; operation k is of strand k mod strands, which alone writes record id if that is
// id mod strands.
type work struct {
	operations []operation
	records    int
	strands    int
	outcomes   []outcome
}

func newWork(operations, records, strands int, seed int64) *work {
	if records < strands {
		records = strands // each owns one
	}
	random := harness.RandomSource(seed)
	w := &work{records: records, strands: strands, outcomes: make([]outcome, strands)}
	for k := 0; k < operations; k++ {
		each := operation{kind(random.Below(int32(kinds))), record{int(random.Below(int32(records))), uint64(k + 1)}}
		if each.what == write {
			own := (records-1-k%strands)/strands + 1
			each.target.id = int(random.Below(int32(own)))*strands + k%strands
		}
		w.operations = append(w.operations, each)
	}
	return w
}

func (w *work) perform(data Records, each operation, strand int, seen *outcome) {
	done := false
	switch each.what {
	case read:
		var found record
		if found, done = data.Read(each.target.id); done && found.id%w.strands == strand {
			seen.own.Add(found.version)
		}
	case write:
		done = data.Write(each.target)
	case search:
		done = data.Search(each.target.id) == each.target.id
	}
	if !done {
		seen.failed++
	}
}

// run has a goroutine for each strand.
func (w *work) run(data Records) {
	var all sync.WaitGroup
	all.Add(w.strands)
	for i := 0; i < w.strands; i++ {
		strand := i
		go func() {
			defer all.Done()
			var seen outcome
			for k := strand; k < len(w.operations); k += w.strands {
				w.perform(data, w.operations[k], strand, &seen)
			}
			w.outcomes[strand] = seen
		}()
	}
	all.Wait()
}

// result is the digest of workload.cpp: of the final file, and of what the strands read of their own records; "" if a
// record is broken.
func (w *work) result(data Records) string {
	var all harness.Digest
	for id := 0; id < w.records; id++ {
		found, ok := data.Read(id)
		if !ok {
			return ""
		}
		all.Add(found.version)
	}
	for _, seen := range w.outcomes {
		all.Add(uint64(seen.own))
	}
	return all.String()
}

// check leaves the versions to the comparison of the result with other models'.
func (w *work) check(result string) harness.Oracle {
	for strand, seen := range w.outcomes {
		if seen.failed != 0 {
			return harness.Oracle{Checked: fmt.Sprintf(
				"strand %d: %d operations did not find a whole record in its place", strand, seen.failed)}
		}
	}
	if result == "" {
		return harness.Oracle{Checked: "a record of the final file is broken"}
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf(
		"all %d records of the final file and all that were read were whole, and every search found its record", w.records)}
}

// Main is the whole program, with records as newRecords makes them of a file.
func Main(newRecords func(*os.File) Records) {
	harness.Main(func(arguments []string) (harness.Sample, error) { return program(arguments, newRecords) })
}

func program(arguments []string, newRecords func(*os.File) Records) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "operations", Default: 10000, Least: 1, Most: 10000000},
		{Name: "records", Default: 50, Least: 1, Most: 1000000},
		{Name: "threads", Default: 10, Least: 1, Most: 1000},
		{Name: "lock", Words: []string{"condition", "mutex"}}, // of the thread model; here always a mutex
		{Name: "seed", Default: 1, Least: 0, Most: 1000000000000},
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	prepare := func(operations int64) (*work, Records, error) {
		w := newWork(int(operations), int(parsed.Integer("records")), int(parsed.Integer("threads")), parsed.Integer("seed"))
		data, err := temporary(w.records)
		if err != nil {
			return nil, nil, err
		}
		return w, newRecords(data), nil
	}
	if parsed.Integer("warmup") != 0 {
		w, data, err := prepare(100)
		if err != nil {
			return harness.Sample{}, err
		}
		w.run(data)
	}
	w, data, err := prepare(parsed.Integer("operations"))
	if err != nil {
		return harness.Sample{}, err
	}
	sample := parsed.Sample("file")
	sample.Measure(func(*harness.Region) { w.run(data) })
	sample.Result = w.result(data)
	sample.Oracle = w.check(sample.Result)
	sample.Metrics["operation_ns"] = sample.Metrics["wall_ns"] / float64(len(w.operations))
	return sample, nil
}
