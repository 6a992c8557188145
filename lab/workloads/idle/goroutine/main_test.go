package main

import "testing"

func TestAllWaitThenEnd(t *testing.T) {
	done, err := run(500)
	if err != nil {
		t.Fatal(err)
	}
	if oracle := check(done, 500); !oracle.OK {
		t.Error(oracle.Checked)
	}
	if grown := done.full["VmRSS"] - done.empty["VmRSS"]; grown < 0 {
		t.Errorf("500 goroutines made the process smaller by %g bytes", -grown)
	}
}

func TestTheOracleNoticesWhatDidNotWait(t *testing.T) {
	for _, wrong := range []idle{{early: 1, ended: 3}, {ended: 2}, {ended: 4}} {
		if check(wrong, 3).OK {
			t.Errorf("%+v passed as three strands", wrong)
		}
	}
}
