package main

import (
	"runtime"
	"testing"
)

func TestEveryStrandRunsOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, outstanding := range []int64{1, 7, 100} {
		if oracle := check(run(100, outstanding), 100); !oracle.OK {
			t.Errorf("%d outstanding: %s", outstanding, oracle.Checked)
		}
	}
}

func TestTheOracleNoticesALostStrandAndOneThatRanTwice(t *testing.T) {
	for _, wrong := range []tally{{2, 3}, {3, 2}, {3, 4}, {4, 3}} {
		if check(wrong, 3).OK {
			t.Errorf("%+v passed as three strands", wrong)
		}
	}
	if !check(tally{3, 3}, 3).OK {
		t.Error("three strands did not pass")
	}
}
