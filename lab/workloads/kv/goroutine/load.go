package main

import (
	"math"
	"sort"

	harness "heddle/lab/harness/go"
)

// load is the operations of each strand, drawn before the clock starts: those of workload.cpp.
func load(operations int64, writes float64, keys, strands int32, skew float64, seed int64) [][]operation {
	random := harness.RandomSource(seed)
	chosen := newKeyChoice(keys, strands, skew)
	all := make([][]operation, strands)
	version := uint64(0)
	for i := range all {
		strand := int64(i)
		share := operations*(strand+1)/int64(strands) - operations*strand/int64(strands)
		all[i] = make([]operation, share)
		for k := range all[i] {
			version++
			all[i][k] = draw(&random, writes, chosen, int32(i), version)
		}
	}
	return all
}

func draw(random *harness.RandomSource, writes float64, keys *keyChoice, strand int32, version uint64) operation {
	const deletesOfWrites, rangesOfReads = 0.25, 0.1
	if random.Share() < writes {
		key := keys.own(random, strand)
		if random.Share() < deletesOfWrites {
			return operation{remove, key, version}
		}
		return operation{set, key, version}
	}
	if random.Share() < rangesOfReads {
		return operation{scan, keys.any(random), 0}
	}
	return operation{get, keys.any(random), 0}
}

// keyChoice is key_choice.hpp's: key k belongs to strand k mod strands; skewed, by Zipf's law.
type keyChoice struct {
	keys, strands int32
	wanted        []float64
	place         []int
}

func newKeyChoice(keys, strands int32, skew float64) *keyChoice {
	choice := &keyChoice{keys: keys, strands: strands}
	if skew == 0 {
		return choice
	}
	sum := 0.0
	for rank := int32(1); rank <= keys/strands; rank++ {
		sum += math.Pow(float64(rank), -skew)
		choice.wanted = append(choice.wanted, sum)
	}
	order := harness.RandomSource(20240506)
	choice.place = order.Permutation(len(choice.wanted))
	return choice
}

func (c *keyChoice) any(random *harness.RandomSource) int32 {
	if c.wanted == nil {
		return random.Below(c.keys)
	}
	return c.own(random, random.Below(c.strands))
}

func (c *keyChoice) own(random *harness.RandomSource, strand int32) int32 {
	if c.wanted == nil {
		return random.Below((c.keys-1-strand)/c.strands+1)*c.strands + strand
	}
	last := len(c.wanted) - 1
	drawn := random.Share() * c.wanted[last]
	rank := sort.Search(last, func(i int) bool { return c.wanted[i] > drawn })
	return int32(c.place[rank])*c.strands + strand
}
