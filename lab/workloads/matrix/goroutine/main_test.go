package main

import "testing"

func TestBothKernelsComputeTheProduct(t *testing.T) {
	for name, multiply := range map[string]func(*work, int, int){"rows": multiplyRows, "blocked": multiplyBlocked} {
		for _, n := range []int{1, 37, 133} {
			w := newWork(n, 7)
			run(w, 3, multiply)
			if verdict := w.check(); !verdict.OK {
				t.Errorf("%s, n = %d: %s", name, n, verdict.Checked)
			}
		}
	}
}

func TestTheOracleNoticesOneWrongElement(t *testing.T) {
	w := newWork(37, 7)
	if w.check().OK {
		t.Error("nothing computed yet, and it passes")
	}
	run(w, 2, multiplyRows)
	w.c[20][3]++
	if w.check().OK {
		t.Error("one element is wrong, and it passes")
	}
}
