package main

import (
	"testing"
	"time"
)

func TestHogsComputeWhileTheOtherSleeps(t *testing.T) {
	sum, slept := run(3, 1000, time.Millisecond)
	if oracle := check(sum, slept, 3, 1000); !oracle.OK {
		t.Error(oracle.Checked)
	}
}

func TestTheOracleNoticesAWrongResultAndNoSleep(t *testing.T) {
	sum, slept := run(2, 10, time.Microsecond)
	if check(sum+1, slept, 2, 10).OK {
		t.Error("a wrong sum passed")
	}
	if check(sum, wakes{}, 2, 10).OK {
		t.Error("a sleeper that never ran passed")
	}
}
