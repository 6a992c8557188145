package main

import (
	"testing"

	harness "heddle/lab/harness/go"
)

func TestTheSimulationIsTheSameInEveryLanguage(t *testing.T) {
	// oracle_test.cpp of the C++ models expects the same.
	expected := history{events: 8000, digest: 17553327171593267405, end: 616712399}
	if happened := runEventDriven(scenario{100, 20, 1}); happened != expected {
		t.Errorf("event-driven: %v, not %v", happened, expected)
	}
}

func TestBlockingApplicationsDoWhatEventDrivenOnesDo(t *testing.T) {
	for _, given := range []scenario{{1, 1, 1}, {7, 3, 2}, {30, 4, 3}} {
		oracle := check(run(given, &harness.Region{}).happened, runEventDriven(given), given)
		if !oracle.OK {
			t.Errorf("%+v: %s", given, oracle.Checked)
		}
	}
}

func TestTheOracleNoticesAnotherHistory(t *testing.T) {
	given := scenario{7, 3, 2}
	right := runEventDriven(given)
	for _, wrong := range []history{{}, runEventDriven(scenario{7, 3, 3}), runEventDriven(scenario{7, 2, 2})} {
		if check(wrong, right, given).OK {
			t.Errorf("%v passed as %v", wrong, right)
		}
	}
}
