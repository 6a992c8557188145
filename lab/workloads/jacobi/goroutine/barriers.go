package main

import (
	"sync"

	harness "heddle/lab/harness/go"
)

// semaphoreBarrier is semaphore_barrier.hpp's.
type semaphoreBarrier struct {
	strands       int
	mutex         harness.Semaphore
	gates         [2]harness.Semaphore // for odd and even meetings
	come, meeting int                  // the mutex protects them
}

func newSemaphoreBarrier(strands int) *semaphoreBarrier {
	return &semaphoreBarrier{
		strands: strands,
		mutex:   harness.NewSemaphore(1, 1),
		gates:   [2]harness.Semaphore{harness.NewSemaphore(0, strands), harness.NewSemaphore(0, strands)},
	}
}

func (b *semaphoreBarrier) meet(counted *harness.PCount) {
	b.mutex.P(counted)
	gate := b.gates[b.meeting&1]
	b.come++
	if b.come < b.strands {
		b.mutex.V()
		gate.P(counted)
		return
	}
	b.come = 0
	b.meeting++
	b.mutex.V()
	for other := 1; other < b.strands; other++ {
		gate.V()
	}
}

// condBarrier is what Go's library offers for it.
type condBarrier struct {
	strands       int
	lock          sync.Mutex
	over          *sync.Cond
	come, meeting int // the lock protects them
}

func newCondBarrier(strands int) *condBarrier {
	b := &condBarrier{strands: strands}
	b.over = sync.NewCond(&b.lock)
	return b
}

func (b *condBarrier) meet(*harness.PCount) {
	b.lock.Lock()
	defer b.lock.Unlock()
	number := b.meeting
	b.come++
	if b.come == b.strands {
		b.come = 0
		b.meeting++
		b.over.Broadcast()
		return
	}
	for b.meeting == number {
		b.over.Wait()
	}
}
