package main

import (
	"testing"

	harness "heddle/lab/harness/go"
)

func TestEachItemComesOnceAndInOrder(t *testing.T) {
	for _, sizes := range [][3]int{{1, 1, 1}, {3, 2, 4}, {2, 3, 1}} {
		s := newShop(sizes[0], sizes[1], sizes[2], 100, 2, 2, 100000)
		s.run()
		if oracle := s.check(); !oracle.OK {
			t.Error(sizes, oracle.Checked)
		}
	}
}

func TestTheOracleNoticesItemsThatAreLostOrComeTwiceOrOutOfOrder(t *testing.T) {
	for name, spoil := range map[string]func(*shop){
		"lost":         func(s *shop) { s.deposit(0, 0) },
		"overwritten":  func(s *shop) { s.deposit(0, 0); s.rear = 0; s.deposit(0, 0); s.fetch(0) },
		"twice":        func(s *shop) { s.deposit(0, 0); s.fetch(0); s.front = 0; s.fetch(0) },
		"out of order": func(s *shop) { s.deposit(0, 1); s.fetch(0) },
	} {
		s := newShop(1, 1, 2, 1, 1, 1, 1)
		s.producers[0].value = harness.WorkLoop(0, s.work)
		spoil(s)
		if s.check().OK {
			t.Error(name, "passed")
		}
	}
	s := newShop(1, 1, 2, 1, 1, 1, 1)
	s.producers[0].value = harness.WorkLoop(0, s.work)
	s.deposit(0, 0)
	s.fetch(0)
	if oracle := s.check(); !oracle.OK {
		t.Error(oracle.Checked)
	}
}
