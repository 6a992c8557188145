package main

import (
	"testing"

	harness "heddle/lab/harness/go"
)

func TestEveryRowDoesItsOperations(t *testing.T) {
	for _, row := range []string{"yield", "spawn", "handoff", "channel", "idle"} {
		work := &bench{strands: 20, count: 30}
		if err := work.run(row, &harness.Region{}); err != nil {
			t.Fatal(err)
		}
		if oracle := work.check(row); !oracle.OK {
			t.Errorf("%s: %s", row, oracle.Checked)
		}
	}
}

func TestALostOperationAndAWrongOrderAreFound(t *testing.T) {
	lost := &bench{strands: 2, count: 5, done: 9}
	if lost.check("yield").OK {
		t.Error("one yield was lost")
	}
	swapped := &bench{count: 2}
	swapped.takeTurn(1)
	swapped.takeTurn(0)
	swapped.done = 2
	if swapped.check("channel").OK {
		t.Error("two values were swapped")
	}
}
