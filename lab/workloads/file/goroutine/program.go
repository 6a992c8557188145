package file

import (
	"fmt"
	"math/rand"
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
	own    uint64
}

func (o *outcome) digest(version uint64) { o.own = (o.own ^ (version + 1)) * 0x100000001B3 }

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
	random := rand.New(rand.NewSource(seed))
	w := &work{records: records, strands: strands, outcomes: make([]outcome, strands)}
	for k := 0; k < operations; k++ {
		each := operation{kind(random.Intn(int(kinds))), record{random.Intn(records), uint64(k + 1)}}
		if each.what == write {
			own := (records - 1 - k%strands) / strands
			each.target.id = random.Intn(own+1)*strands + k%strands
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
			seen.digest(found.version)
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

// check is the oracle: what a sequential run would have left, and shown to each strand of its own records.
func (w *work) check(data Records) harness.Oracle {
	wrong := func(format string, arguments ...interface{}) harness.Oracle {
		return harness.Oracle{Checked: fmt.Sprintf(format, arguments...)}
	}
	versions := make([]uint64, w.records)
	expected := make([]outcome, w.strands)
	for k, each := range w.operations {
		strand, id := k%w.strands, each.target.id
		switch {
		case each.what == write:
			versions[id] = each.target.version
		case each.what == read && id%w.strands == strand:
			expected[strand].digest(versions[id])
		}
	}
	for strand, seen := range w.outcomes {
		if seen.failed != 0 {
			return wrong("strand %d: %d operations did not find a whole record in its place", strand, seen.failed)
		}
		if seen.own != expected[strand].own {
			return wrong("strand %d did not read what it had written to its own records", strand)
		}
	}
	for id, version := range versions {
		if found, ok := data.Read(id); !ok || found.version != version {
			return wrong("record %d of the final file: expected version %d, got %v", id, version, found)
		}
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf("all %d records of the final file, every strand's reads of its own records and every search equal those of a sequential run; all other reads were whole records", w.records)}
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
	sample.Oracle = w.check(data)
	sample.Metrics["operation_ns"] = sample.Metrics["wall_ns"] / float64(len(w.operations))
	return sample, nil
}
