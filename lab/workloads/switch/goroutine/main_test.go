package main

import (
	"runtime"
	"strings"
	"testing"

	harness "heddle/lab/harness/go"
)

func TestEveryStrandTakesItsTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, contexts := range []int{2, 3, 200} {
		strands := newRing(contexts)
		run(strands, 50, &harness.Region{})
		if oracle := check(strands.counts, 50); !oracle.OK {
			t.Errorf("%d contexts: %s", contexts, oracle.Checked)
		}
	}
}

func TestTheSourcesProgramYieldsAsOften(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if oracle := check(source(50, &harness.Region{}), 50); !oracle.OK {
		t.Error(oracle.Checked)
	}
}

func TestTheOracleNoticesALostTurn(t *testing.T) {
	oracle := check([]int64{50, 49}, 50)
	if oracle.OK || !strings.Contains(oracle.Checked, "strand 1 ran 49") {
		t.Errorf("got %+v", oracle)
	}
}

func TestTurnsOutOfOrderAreCounted(t *testing.T) {
	strands := newRing(3)
	for round := 0; round < 4; round++ {
		for i := range strands.counts {
			strands.take(i)
		}
	}
	if strands.outOfOrder != 0 {
		t.Errorf("%d in a round-robin run", strands.outOfOrder)
	}
	strands.take(2)
	if strands.outOfOrder != 1 {
		t.Errorf("a turn that jumped the queue was not counted")
	}
}
