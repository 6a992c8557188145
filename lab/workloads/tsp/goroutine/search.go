package main

import (
	"math"
	"sync"
	"sync/atomic"
)

// mostCities is search.hpp's.
const mostCities = 16

type cityMap struct {
	cities    int
	distances [mostCities][mostCities]int32
}

// newCityMap is search.cpp's, point by point.
func newCityMap(cities int, seed uint64) *cityMap {
	on := &cityMap{cities: cities}
	coordinate := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64((seed >> 33) % 1000)
	}
	var x, y [mostCities]float64
	for i := 0; i < cities; i++ {
		x[i] = coordinate()
		y[i] = coordinate()
		for j := 0; j < i; j++ {
			d := int32(math.Round(math.Hypot(x[i]-x[j], y[i]-y[j])))
			on.distances[i][j], on.distances[j][i] = d, d
		}
	}
	return on
}

// tour goes from city 0; or it is the beginning of one. The length is up to the last city, of a whole tour back home too.
type tour struct {
	order  [mostCities]uint8
	cities int
	length int32
}

func (t tour) with(on *cityMap, city int) tour {
	if t.cities > 0 {
		t.length += on.distances[t.order[t.cities-1]][city]
	}
	t.order[t.cities] = uint8(city)
	t.cities++
	return t
}

// beginnings has all of depth cities, in the order of their numbers.
func beginnings(on *cityMap, from tour, depth int) (all []tour) {
	if from.cities == depth {
		return []tour{from}
	}
	for city := 1; city < on.cities; city++ {
		seen := false
		for _, other := range from.order[:from.cities] {
			seen = seen || int(other) == city
		}
		if !seen {
			all = append(all, beginnings(on, from.with(on, city), depth)...)
		}
	}
	return all
}

// record is the shortest tour so far. Its length is read without the lock.
type record struct {
	bound    int32
	lock     sync.Mutex
	shortest tour
}

func (r *record) found(candidate tour) {
	r.lock.Lock()
	defer r.lock.Unlock()
	// Another may have found a shorter one since the candidate was compared.
	if candidate.length < atomic.LoadInt32(&r.bound) {
		r.shortest = candidate
		atomic.StoreInt32(&r.bound, candidate.length)
	}
}

// search follows path to all tours that are shorter than the record is meanwhile: search.cpp's.
type search struct {
	on    *cityMap
	path  tour
	best  *record
	seen  uint32 // a bit a city
	nodes uint64
}

func newSearch(on *cityMap, beginning tour, best *record) *search {
	s := &search{on: on, path: beginning, best: best}
	for _, city := range beginning.order[:beginning.cities] {
		s.seen |= 1 << city
	}
	return s
}

func (s *search) follow() {
	s.nodes++
	last := s.path.order[s.path.cities-1]
	if s.path.cities == s.on.cities {
		whole := s.path
		whole.length += s.on.distances[last][0]
		if whole.length < atomic.LoadInt32(&s.best.bound) {
			s.best.found(whole)
		}
		return
	}
	length := s.path.length
	for city := 1; city < s.on.cities; city++ {
		if s.seen&(1<<city) != 0 {
			continue
		}
		longer := length + s.on.distances[last][city]
		if longer >= atomic.LoadInt32(&s.best.bound) {
			continue
		}
		s.seen |= 1 << city
		s.path.order[s.path.cities] = uint8(city)
		s.path.cities++
		s.path.length = longer
		s.follow()
		s.path.cities--
		s.seen &^= 1 << city
	}
	s.path.length = length
}
