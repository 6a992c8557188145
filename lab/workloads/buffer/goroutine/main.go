// The bounded buffer on goroutines, one processor. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"sync"

	harness "heddle/lab/harness/go"
)

const besides = 20 // of an item, beside the loops: as in workload.cpp

type item struct {
	producer int
	number   int64
	value    uint64
	full     bool
}

// strand is what one producer or consumer keeps.
type strand struct {
	value, inside, sum uint64
	p                  harness.PCount
}

// shop is the whole run. Nothing in it is atomic: one processor runs one goroutine at a time, and where the semaphores
// fail, the numbers are to tell.
type shop struct {
	work, inside, consume int64
	items                 int64 // of one producer
	producers, consumers  []strand
	due                   []int64 // of each producer, the number of the item that is to be fetched next
	buffer                []item
	rear, front           int
	wrong                 int64

	empty, full, mutexD, mutexF harness.Semaphore
}

func newShop(producers, consumers, slots int, work, inside, consume, steps int64) *shop {
	s := &shop{work: work, inside: inside, consume: consume,
		producers: make([]strand, producers), consumers: make([]strand, consumers),
		due: make([]int64, producers), buffer: make([]item, slots),
		empty: harness.NewSemaphore(slots, slots), full: harness.NewSemaphore(0, slots),
		mutexD: harness.NewSemaphore(1, 1), mutexF: harness.NewSemaphore(1, 1)}
	s.items = steps / int64(producers) / (work + 2*inside + consume + besides)
	if s.items < 1 {
		s.items = 1
	}
	for i := range s.producers {
		s.producers[i].value = uint64(i)
	}
	return s
}

func (s *shop) all() int64 { return s.items * int64(len(s.producers)) }

// shareOf is how many items a consumer has to take.
func (s *shop) shareOf(consumer int) int64 {
	share, rest := s.all()/int64(len(s.consumers)), s.all()%int64(len(s.consumers))
	if int64(consumer) < rest {
		share++
	}
	return share
}

func (s *shop) deposit(who int, number int64) {
	own := &s.producers[who]
	if s.buffer[s.rear].full {
		s.wrong++
	}
	s.buffer[s.rear] = item{producer: who, number: number, value: own.value}
	own.inside = harness.WorkLoop(own.inside, s.inside)
	s.buffer[s.rear].full = true
	s.rear = (s.rear + 1) % len(s.buffer)
}

func (s *shop) fetch(who int) {
	own := &s.consumers[who]
	taken := s.buffer[s.front]
	if !taken.full || taken.number != s.due[taken.producer] {
		s.wrong++
	}
	own.value = taken.value
	own.sum += taken.value
	own.inside = harness.WorkLoop(own.inside, s.inside)
	s.due[taken.producer] = taken.number + 1
	s.buffer[s.front].full = false
	s.front = (s.front + 1) % len(s.buffer)
}

func (s *shop) produceAll(who int) {
	own := &s.producers[who]
	for number := int64(0); number < s.items; number++ {
		own.value = harness.WorkLoop(own.value, s.work)
		s.empty.P(&own.p)
		if len(s.producers) > 1 {
			s.mutexD.P(&own.p)
		}
		s.deposit(who, number)
		if len(s.producers) > 1 {
			s.mutexD.V()
		}
		s.full.V()
	}
}

func (s *shop) consumeAll(who int) {
	own := &s.consumers[who]
	for left := s.shareOf(who); left > 0; left-- {
		s.full.P(&own.p)
		if len(s.consumers) > 1 {
			s.mutexF.P(&own.p)
		}
		s.fetch(who)
		if len(s.consumers) > 1 {
			s.mutexF.V()
		}
		s.empty.V()
		own.value = harness.WorkLoop(own.value, s.consume)
	}
}

func (s *shop) run() {
	var all sync.WaitGroup
	start := func(who int, body func(int)) {
		all.Add(1)
		go func() {
			body(who)
			all.Done()
		}()
	}
	for who := range s.producers {
		start(who, s.produceAll)
	}
	for who := range s.consumers {
		start(who, s.consumeAll)
	}
	all.Wait()
}

// consumed is the sum of all items.
func (s *shop) consumed() (sum uint64) {
	for i := range s.consumers {
		sum += s.consumers[i].sum
	}
	return sum
}

// check leaves it to the comparison with other models whether the items add up to what they should.
func (s *shop) check() harness.Oracle {
	missing := int64(0)
	for i := range s.producers {
		if s.due[i] != s.items {
			missing++
		}
	}
	expected := fmt.Sprintf("each of %d items once, and each producer's in order", s.all())
	if s.wrong != 0 || missing != 0 {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %s; %d came out of turn, and not all of %d producers came", expected, s.wrong, missing)}
	}
	return harness.Oracle{OK: true, Checked: expected}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "producers", Default: 1, Least: 1, Most: 10000},
		{Name: "consumers", Default: 1, Least: 1, Most: 10000},
		{Name: "slots", Default: 1, Least: 1, Most: 1000000},
		{Name: "work", Default: 100, Most: 1000000000},
		{Name: "inside", Default: 2, Most: 1000000000},
		{Name: "consume", Default: 2, Most: 1000000000},
		{Name: "steps", Default: 10000000, Least: 1, Most: 1000000000000},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1)                   // as all the others
	newShop(2, 2, 1, 10, 1, 1, 10000).run() // first calls
	s := newShop(int(parsed.Integer("producers")), int(parsed.Integer("consumers")), int(parsed.Integer("slots")),
		parsed.Integer("work"), parsed.Integer("inside"), parsed.Integer("consume"), parsed.Integer("steps"))
	sample := parsed.Sample("buffer")
	sample.Measure(func(*harness.Region) { s.run() })
	sample.Oracle = s.check()
	sample.Result = fmt.Sprint(s.consumed())
	sample.Metrics["item_ns"] = sample.Metrics["wall_ns"] / float64(s.all())
	sample.Metrics["item_cpu_ns"] = sample.Metrics["cpu_ns"] / float64(s.all())
	counted := []harness.PCount{}
	for _, side := range [][]strand{s.producers, s.consumers} {
		for _, each := range side {
			counted = append(counted, each.p)
		}
	}
	sample.CountP(counted, "item", s.all())
	return sample, nil
}

func main() { harness.Main(program) }
