package main

import "testing"

func TestGoroutinesFindTheShortestTour(t *testing.T) {
	for _, cities := range []int{3, 4, 9} {
		for seed := uint64(1); seed < 4; seed++ {
			on := newCityMap(cities, seed)
			if oracle := check(on, run(on, 5)); !oracle.OK {
				t.Errorf("%d cities, seed %d: %s", cities, seed, oracle.Checked)
			}
		}
	}
}

// oracle_test.cpp of the C++ models expects the same.
func TestTheWorkIsTheSameInEveryLanguage(t *testing.T) {
	on := newCityMap(10, 1)
	if got := run(on, 1); got.shortest.length != 2487 || got.nodes != 113981 {
		t.Errorf("a tour of length %d, after %d nodes", got.shortest.length, got.nodes)
	}
}

func TestTheOracleNoticesALongerTourAndALostTask(t *testing.T) {
	on := newCityMap(7, 1)
	right := run(on, 2)
	for name, spoil := range map[string]func(*result){
		"another order":        func(r *result) { r.shortest.order[1], r.shortest.order[3] = r.shortest.order[3], r.shortest.order[1] },
		"a length it is not":   func(r *result) { r.shortest.length-- },
		"a city twice":         func(r *result) { r.shortest.order[2] = r.shortest.order[1] },
		"a city too few":       func(r *result) { r.shortest.cities-- },
		"a task that was lost": func(r *result) { r.tasks-- },
		"nothing found":        func(r *result) { *r = result{} },
	} {
		spoilt := right
		spoil(&spoilt)
		if check(on, spoilt).OK {
			t.Errorf("%s passed", name)
		}
	}
	if oracle := check(on, right); !oracle.OK {
		t.Error(oracle.Checked)
	}
}
