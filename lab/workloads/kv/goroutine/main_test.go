package main

import "testing"

const keys = 1000

func performed(lock string) (guarded, []outcome) {
	operations := load(20000, 0.5, keys, 10, 1, 1)
	data := newGuarded(lock, keys)
	return data, run(data, operations, true)
}

// oracle_test.cpp of the C++ models expects the same.
const expected = "14670448740910804139"

func TestEveryLockKeepsWhatWasWritten(t *testing.T) {
	for _, lock := range []string{"mutex", "shared", "sharded"} {
		data, outcomes := performed(lock)
		if verdict := check(outcomes); !verdict.OK {
			t.Errorf("%s: %s", lock, verdict.Checked)
		}
		if got := result(data, outcomes, keys); got != expected {
			t.Errorf("%s: expected %s, got %s", lock, expected, got)
		}
	}
}

func TestASpoiltResultIsAnother(t *testing.T) {
	for what, spoil := range map[string]func(data guarded, outcomes []outcome){
		"a key is gone": func(data guarded, _ []outcome) {
			part := data.contents()[0]
			for key := range part {
				delete(part, key)
				break
			}
		},
		"a key is too many": func(data guarded, _ []outcome) { data.contents()[0][-1] = value{1, sealOf(-1, 1)} },
		"an old version": func(data guarded, _ []outcome) {
			part := data.contents()[0]
			for key, stored := range part {
				part[key] = value{stored.version + 1, stored.seal}
				break
			}
		},
		"another read": func(_ guarded, outcomes []outcome) { outcomes[3].own++ },
	} {
		data, outcomes := performed("mutex")
		spoil(data, outcomes)
		if result(data, outcomes, keys) == expected {
			t.Errorf("%s, and it is the same", what)
		}
	}
}

func TestTheOracleNoticesAnInvalidRead(t *testing.T) {
	_, outcomes := performed("mutex")
	outcomes[3].invalid++
	if check(outcomes).OK {
		t.Error("an invalid read, and it passes")
	}
}

func TestSkewedKeysAreWantedBySomeMoreThanByOthers(t *testing.T) {
	for _, skew := range []float64{0, 1.2} {
		counts := map[int32]int{}
		most := 0
		for _, strand := range load(100000, 0, keys, 10, skew, 1) {
			for _, each := range strand {
				counts[each.key]++
				if counts[each.key] > most {
					most = counts[each.key]
				}
			}
		}
		// Uniformly, 100 a key; by Zipf's law with 100 keys a strand, above 2000 for the first.
		if skewed := most > 1000; skewed != (skew > 0) {
			t.Errorf("skew %v: the most wanted key was asked for %d times", skew, most)
		}
	}
}
