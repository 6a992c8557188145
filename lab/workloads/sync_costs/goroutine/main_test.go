package main

import (
	"testing"

	harness "heddle/lab/harness/go"
)

func TestEachOperationIsDoneAsOftenAsItShould(t *testing.T) {
	for _, operation := range []string{"p", "v", "handoff", "yield"} {
		b := &bench{operation: operation, count: 101}
		b.run(&harness.Region{})
		if oracle := b.check(); !oracle.OK {
			t.Error(operation, oracle.Checked)
		}
		b.done--
		if b.check().OK {
			t.Error(operation, "one too few passed")
		}
		b.done++
		b.permits++
		if b.check().OK {
			t.Error(operation, "a permit too many passed")
		}
	}
}
