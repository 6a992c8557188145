// Readers and writers on goroutines, one processor. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

const besides = 10 // of a visit, beside the loops: as in workload.cpp

// strand is what one reader or writer keeps.
type strand struct {
	value   uint64
	p       harness.PCount
	visits  int64
	version int64 // of the record, when the visit began
}

// library is the whole run. Nothing in it is atomic: one processor runs one goroutine at a time, and where the semaphores
// fail, the numbers are to tell.
type library struct {
	work, inside, visits int64
	readers              int // of the strands, the first ones
	strands              []strand
	record               [4]int64 // as in workload.hpp
	disturbed            int64

	mutexR, free harness.Semaphore
	reading      int // at the record or on their way to it
}

func newLibrary(readers, writers int, work, inside, steps int64) *library {
	l := &library{work: work, inside: inside, readers: readers, strands: make([]strand, readers+writers),
		mutexR: harness.NewSemaphore(1, 1), free: harness.NewSemaphore(1, 1)}
	l.visits = steps / int64(readers+writers) / (work + inside + besides)
	if l.visits < 1 {
		l.visits = 1
	}
	for i := range l.strands {
		l.strands[i].value = uint64(i)
	}
	return l
}

func (l *library) isReader(who int) bool { return who < l.readers }

func (l *library) begin(who int) {
	own := &l.strands[who]
	own.version = l.record[0]
	for _, field := range l.record {
		if field != own.version {
			l.disturbed++
		}
	}
	if !l.isReader(who) {
		own.version++
		l.record[0], l.record[1] = own.version, own.version
	}
}

func (l *library) end(who int) {
	own := &l.strands[who]
	expected := [4]int64{own.version, own.version, own.version, own.version}
	if !l.isReader(who) {
		expected[2], expected[3] = own.version-1, own.version-1
	}
	for i, field := range l.record {
		if field != expected[i] {
			l.disturbed++
		}
	}
	own.visits++
	if !l.isReader(who) {
		l.record[2], l.record[3] = own.version, own.version
	}
}

func (l *library) visit(who int) {
	l.begin(who)
	own := &l.strands[who]
	own.value = harness.WorkLoop(own.value, l.inside)
	l.end(who)
}

func (l *library) visitAll(who int) {
	own := &l.strands[who]
	for visit := int64(0); visit < l.visits; visit++ {
		own.value = harness.WorkLoop(own.value, l.work)
		if !l.isReader(who) {
			l.free.P(&own.p)
			l.visit(who)
			l.free.V()
			continue
		}
		l.mutexR.P(&own.p)
		l.reading++
		if l.reading == 1 {
			l.free.P(&own.p)
		}
		l.mutexR.V()
		l.visit(who)
		l.mutexR.P(&own.p)
		l.reading--
		if l.reading == 0 {
			l.free.V()
		}
		l.mutexR.V()
	}
}

func (l *library) run() {
	var all sync.WaitGroup
	for who := range l.strands {
		all.Add(1)
		go func(who int) {
			l.visitAll(who)
			all.Done()
		}(who)
	}
	all.Wait()
}

// computed is the sum of what all strands have computed.
func (l *library) computed() (sum uint64) {
	for i := range l.strands {
		sum += l.strands[i].value
	}
	return sum
}

// check leaves it to the comparison with other models what the strands have computed.
func (l *library) check() harness.Oracle {
	wrong := 0
	for i := range l.strands {
		each := &l.strands[i]
		if each.visits != l.visits {
			wrong++
		}
	}
	writes := l.visits * int64(len(l.strands)-l.readers)
	expected := fmt.Sprintf("no writer beside a reader or another writer, %d visits of each, none of %d writes lost",
		l.visits, writes)
	if l.disturbed != 0 || wrong != 0 || l.record[0] != writes || l.record[3] != writes {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; the record was not as it had to be %d times, %d strands made other visits, %d writes",
			expected, l.disturbed, wrong, l.record[3])}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "readers", Default: 8, Most: 10000},
		{Name: "writers", Default: 2, Least: 1, Most: 10000},
		{Name: "work", Default: 100, Most: 1000000000},
		{Name: "inside", Default: 10, Most: 1000000000},
		{Name: "steps", Default: 10000000, Least: 1, Most: 1000000000000},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1)                // as all the others
	newLibrary(2, 2, 10, 1, 10000).run() // first calls
	l := newLibrary(int(parsed.Integer("readers")), int(parsed.Integer("writers")),
		parsed.Integer("work"), parsed.Integer("inside"), parsed.Integer("steps"))
	sample := parsed.Sample("readers-writers")
	sample.Measure(func(*harness.Region) { l.run() })
	sample.Oracle = l.check()
	sample.Result = fmt.Sprint(l.computed())
	visits := l.visits * int64(len(l.strands))
	sample.Metrics["visit_ns"] = sample.Metrics["wall_ns"] / float64(visits)
	sample.Metrics["visit_cpu_ns"] = sample.Metrics["cpu_ns"] / float64(visits)
	counted := make([]harness.PCount, 0, len(l.strands))
	for i := range l.strands {
		counted = append(counted, l.strands[i].p)
	}
	sample.CountP(counted, "visit", visits)
	return sample, nil
}

func main() { harness.Main(program) }
