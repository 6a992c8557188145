package main

import "testing"

const keys = 1000

func performed(lock string) (guarded, [][]operation, []outcome) {
	operations := load(20000, 0.5, keys, 10, 1, 1)
	data := newGuarded(lock, keys)
	return data, operations, run(data, operations, true)
}

func TestEveryLockKeepsWhatWasWritten(t *testing.T) {
	for _, lock := range []string{"mutex", "shared", "sharded"} {
		data, operations, outcomes := performed(lock)
		if verdict := check(data, operations, outcomes, keys); !verdict.OK {
			t.Errorf("%s: %s", lock, verdict.Checked)
		}
	}
}

func TestTheOracleNoticesASpoiltResult(t *testing.T) {
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
		"an invalid read": func(_ guarded, outcomes []outcome) { outcomes[3].invalid++ },
		"another read":    func(_ guarded, outcomes []outcome) { outcomes[3].own++ },
	} {
		data, operations, outcomes := performed("mutex")
		spoil(data, outcomes)
		if check(data, operations, outcomes, keys).OK {
			t.Errorf("%s, and it passes", what)
		}
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
