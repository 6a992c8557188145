package main

import "sync"

// semaphore is a counting semaphore as Go has it: a channel with room for all permits.
type semaphore chan struct{}

func newSemaphore(permits, most int) semaphore {
	s := make(semaphore, most)
	for i := 0; i < permits; i++ {
		s.V()
	}
	return s
}

func (s semaphore) P() { <-s }
func (s semaphore) V() { s <- struct{}{} }

// semaphoreBarrier is semaphore_barrier.hpp's.
type semaphoreBarrier struct {
	strands       int
	mutex         semaphore
	gates         [2]semaphore // for odd and even meetings
	come, meeting int          // the mutex protects them
}

func newSemaphoreBarrier(strands int) *semaphoreBarrier {
	return &semaphoreBarrier{
		strands: strands,
		mutex:   newSemaphore(1, 1),
		gates:   [2]semaphore{newSemaphore(0, strands), newSemaphore(0, strands)},
	}
}

func (b *semaphoreBarrier) meet() {
	b.mutex.P()
	gate := b.gates[b.meeting&1]
	b.come++
	if b.come < b.strands {
		b.mutex.V()
		gate.P()
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

func (b *condBarrier) meet() {
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
