package main

import (
	"sync"

	harness "heddle/lab/harness/go"
)

const (
	shards    = 64
	rangeKeys = 16
)

type value struct{ version, seal uint64 }

// sealOf is the seal of a key's version, as store.hpp's.
func sealOf(key int32, version uint64) uint64 {
	x := version*0x9E3779B97F4A7C15 + uint64(key)
	x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD
	x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53
	return x ^ (x >> 33)
}

type kind uint8

const (
	get kind = iota
	scan
	set
	remove
)

type operation struct {
	what    kind
	key     int32
	version uint64
}

func (o operation) reads() bool { return o.what == get || o.what == scan }

// outcome is what a strand saw: a digest of what it read of its own keys, and values whose seal does not fit.
type outcome struct {
	own     harness.Digest
	invalid uint64
}

func (seen *outcome) see(key int32, read value, own bool) {
	if read.seal != sealOf(key, read.version) {
		seen.invalid++
	}
	if own {
		seen.own.Add(read.version)
	}
}

type store map[int32]value

// perform does one operation on a store; of a range, the part from key to last.
func (s store) perform(o operation, last, strand, strands int32, seen *outcome) {
	switch o.what {
	case get:
		read, found := s[o.key]
		own := o.key%strands == strand
		if found {
			seen.see(o.key, read, own)
		} else if own {
			seen.own.Add(0)
		}
	case scan:
		for key := o.key; key < last; key++ {
			if read, found := s[key]; found {
				seen.see(key, read, key%strands == strand)
			}
		}
	case set:
		s[o.key] = value{o.version, sealOf(o.key, o.version)}
	case remove:
		delete(s, o.key)
	}
}

// guarded is the store with its locks; perform is safe for all goroutines.
type guarded interface {
	perform(o operation, strand, strands int32, seen *outcome)
	contents() []store
}

// whole is one store with one mutex, as the source has it.
type whole struct {
	mutex sync.Mutex
	data  store
}

func (w *whole) perform(o operation, strand, strands int32, seen *outcome) {
	w.mutex.Lock()
	w.data.perform(o, o.key+rangeKeys, strand, strands, seen)
	w.mutex.Unlock()
}

func (w *whole) contents() []store { return []store{w.data} }

// shared is one store with one readers-writer lock.
type shared struct {
	mutex sync.RWMutex
	data  store
}

func (w *shared) perform(o operation, strand, strands int32, seen *outcome) {
	if o.reads() {
		w.mutex.RLock()
		defer w.mutex.RUnlock()
	} else {
		w.mutex.Lock()
		defer w.mutex.Unlock()
	}
	w.data.perform(o, o.key+rangeKeys, strand, strands, seen)
}

func (w *shared) contents() []store { return []store{w.data} }

type shard struct {
	mutex sync.Mutex
	data  store
	_     [64 - 16]byte // neighbours in other cache lines
}

// sharded divides the keys among stores, each with a mutex of its own; 16 neighbouring keys are in one.
type sharded [shards]shard

func shardOf(key int32) int { return int(key) / rangeKeys % shards }

func (s *sharded) perform(o operation, strand, strands int32, seen *outcome) {
	last := o.key + 1
	if o.what == scan {
		last = o.key + rangeKeys
	}
	for o.key < last {
		end := (o.key/rangeKeys + 1) * rangeKeys
		if end > last {
			end = last
		}
		part := &s[shardOf(o.key)]
		part.mutex.Lock()
		part.data.perform(o, end, strand, strands, seen)
		part.mutex.Unlock()
		o.key = end
	}
}

func (s *sharded) contents() []store {
	all := make([]store, shards)
	for i := range s {
		all[i] = s[i].data
	}
	return all
}

func newGuarded(lock string, keys int32) guarded {
	switch lock {
	case "mutex":
		return &whole{data: initial(keys)}
	case "shared":
		return &shared{data: initial(keys)}
	}
	divided := new(sharded)
	for i := range divided {
		divided[i].data = make(store, keys/shards)
	}
	for key, stored := range initial(keys) {
		divided[shardOf(key)].data[key] = stored
	}
	return divided
}

// initial has every second key.
func initial(keys int32) store {
	data := make(store, keys)
	for key := int32(0); key < keys; key += 2 {
		data[key] = value{0, sealOf(key, 0)}
	}
	return data
}
