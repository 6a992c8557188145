package main

import "testing"

func TestAllVisitsAreMadeAndNobodyIsDisturbed(t *testing.T) {
	l := newLibrary(3, 2, 100, 10, 100000)
	l.run()
	if oracle := l.check(); !oracle.OK {
		t.Error(oracle.Checked)
	}
}

// play has one reader, 0, and writers 1 and 2 begin and end their visits in some order: `(0)0` is a visit of the reader.
func play(steps string) bool {
	l := newLibrary(1, 2, 0, 0, 1)
	for i := 0; i+1 < len(steps); i += 2 {
		who := int(steps[i+1] - '0')
		if steps[i] == '(' {
			l.begin(who)
		} else {
			l.end(who)
		}
	}
	return l.check().OK
}

func TestTheOracleNoticesWhoMeets(t *testing.T) {
	for steps, expected := range map[string]bool{
		"(0)0(1)1(2)2": true,
		"(0(1)0)1(2)2": false, // a writer came while one read
		"(1(0)1)0(2)2": false, // a reader came while one wrote
		"(0)0(1(2)1)2": false, // two writers
		"(0)0(1)1":     false, // a visit is missing
	} {
		if play(steps) != expected {
			t.Errorf("%s: expected %v", steps, expected)
		}
	}
}
