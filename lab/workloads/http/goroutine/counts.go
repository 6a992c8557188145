package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// counts is what server_state of limits.hpp begins with, which says what each is.
type counts struct {
	requests, refused, accepted, open, mostOpen, mostThreads atomic.Int64
}

// mapCounts maps the counts of the program that has started this one, in the descriptor's memory.
func mapCounts(descriptor int) (*counts, error) {
	memory, err := syscall.Mmap(descriptor, 0, int(unsafe.Sizeof(counts{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("--counts=%d is no memory: %v", descriptor, err)
	}
	return (*counts)(unsafe.Pointer(&memory[0])), nil
}

func (c *counts) opened() {
	c.accepted.Add(1)
	if now := c.open.Add(1); now > c.mostOpen.Load() {
		c.mostOpen.Store(now)
	}
}

// countThreads is for the end: Go keeps the threads that it has made.
func (c *counts) countThreads() {
	if tasks, err := os.ReadDir("/proc/self/task"); err == nil {
		c.mostThreads.Store(int64(len(tasks)))
	}
}
