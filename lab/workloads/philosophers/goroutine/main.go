// The philosophers on goroutines, one processor. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"

	harness "heddle/lab/harness/go"
)

const besides = 10 // of a meal, beside the loops: as in workload.cpp

// seat is one philosopher's. Here and below nothing is atomic: one processor runs one goroutine at a time, and where the
// forks fail, the numbers are to tell.
type seat struct {
	value uint64
	p     harness.PCount
	met   int64 // a neighbour who eats
	eaten int64
}

type table struct {
	work, inside, meals int64
	reversed            bool
	io                  time.Duration
	awaitsIO            bool
	seats               []seat
	forks               []harness.Semaphore
	users               []int64 // of a fork
	gone                int64
	least               int64 // meals of the hungriest when the first left
}

const nobody = -1

func newTable(philosophers, work, inside, steps int64, reversed bool) *table {
	t := &table{work: work, inside: inside, reversed: reversed, seats: make([]seat, philosophers)}
	t.meals = steps / philosophers / (work + inside + besides)
	if t.meals < 1 {
		t.meals = 1
	}
	for i := range t.seats {
		t.seats[i].value = uint64(i)
		t.forks = append(t.forks, harness.NewSemaphore(1, 1))
		t.users = append(t.users, nobody)
	}
	return t
}

func (t *table) take(who int, fork int) {
	if t.users[fork] != nobody {
		t.seats[who].met++
	}
	t.users[fork] = int64(who)
}

func (t *table) putBack(who int, fork int) {
	if t.users[fork] != int64(who) {
		t.seats[who].met++
	}
	t.users[fork] = nobody
}

// waitForIO waits for the food: in the kernel, which Go finds out about and runs others meanwhile, or by its own timer.
func (t *table) waitForIO() {
	if t.io > 0 && t.awaitsIO {
		time.Sleep(t.io)
	} else if t.io > 0 {
		pause := syscall.NsecToTimespec(t.io.Nanoseconds())
		for syscall.Nanosleep(&pause, &pause) == syscall.EINTR {
		}
	}
}

func (t *table) dine(who int) {
	own := &t.seats[who]
	left, right := who, (who+1)%len(t.seats)
	first, second := left, right
	if t.reversed && who+1 == len(t.seats) {
		first, second = right, left
	}
	for meal := int64(0); meal < t.meals; meal++ {
		own.value = harness.WorkLoop(own.value, t.work)
		t.waitForIO()
		t.forks[first].P(&own.p)
		t.forks[second].P(&own.p)
		t.take(who, left)
		t.take(who, right)
		own.value = harness.WorkLoop(own.value, t.inside)
		t.putBack(who, left)
		t.putBack(who, right)
		own.eaten++
		t.forks[first].V()
		t.forks[second].V()
	}
	t.gone++
	if t.gone == 1 {
		t.least = t.meals
		for i := range t.seats {
			if eaten := t.seats[i].eaten; eaten < t.least {
				t.least = eaten
			}
		}
	}
}

func (t *table) mealsEaten() int64 {
	var sum int64
	for i := range t.seats {
		sum += t.seats[i].eaten
	}
	return sum
}

func (t *table) run() {
	var all sync.WaitGroup
	for who := range t.seats {
		all.Add(1)
		go func(who int) {
			t.dine(who)
			all.Done()
		}(who)
	}
	all.Wait()
}

// thoughts is the sum of what all have computed.
func (t *table) thoughts() (sum uint64) {
	for i := range t.seats {
		sum += t.seats[i].value
	}
	return sum
}

// check leaves it to the comparison with other models what they have thought.
func (t *table) check() harness.Oracle {
	var met, wrong int64
	for i := range t.seats {
		each := &t.seats[i]
		met += each.met
		if each.eaten != t.meals {
			wrong++
		}
	}
	if met != 0 || wrong != 0 {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: no two neighbours eat at a time, each has %d meals; two did %d times, and %d philosophers had other meals",
			t.meals, met, wrong)}
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf(
		"no two neighbours ate at a time, and each had %d meals", t.meals)}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "philosophers", Default: 16, Least: 2, Most: 100000},
		{Name: "work", Default: 100, Most: 1000000000},
		{Name: "inside", Default: 10, Most: 1000000000},
		{Name: "steps", Default: 10000000, Least: 1, Most: 1000000000000},
		{Name: "order", Words: []string{"reversed", "printed"}},
		{Name: "io-us", Most: 1000000},
		{Name: "io", Words: []string{"blocking", "awaited"}},
		{Name: "yield", Words: []string{"none", "outside", "inside", "both"}},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1) // as all the others
	philosophers, reversed := parsed.Integer("philosophers"), parsed.Values["order"] == "reversed"
	work, inside := parsed.Integer("work"), parsed.Integer("inside")
	newTable(philosophers, work%1000, inside%1000, 10000, true).run() // first calls
	t := newTable(philosophers, work, inside, parsed.Integer("steps"), reversed)
	t.io, t.awaitsIO = time.Duration(parsed.Integer("io-us"))*time.Microsecond, parsed.Values["io"] == "awaited"
	sample := parsed.Sample("philosophers")
	if !reversed && t.io == 0 {
		stuck := sample // so that nothing is written to the one that is measured
		what := fmt.Sprintf("deadlock: each of %d philosophers waits for a neighbour's fork", philosophers)
		go stuck.EndInDeadlock(t.mealsEaten, what)
	}
	sample.Measure(func(*harness.Region) { t.run() })
	sample.Oracle = t.check()
	sample.Result = fmt.Sprint(t.thoughts())
	meals := t.meals * philosophers
	sample.Metrics["meal_ns"] = sample.Metrics["wall_ns"] / float64(meals)
	sample.Metrics["meal_cpu_ns"] = sample.Metrics["cpu_ns"] / float64(meals)
	sample.Metrics["spread"] = float64(t.meals+1) / float64(t.least+1)
	counted := make([]harness.PCount, 0, philosophers)
	for i := range t.seats {
		counted = append(counted, t.seats[i].p)
	}
	sample.CountP(counted, "meal", meals)
	return sample, nil
}

func main() { harness.Main(program) }
