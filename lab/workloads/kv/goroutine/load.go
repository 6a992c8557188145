package main

import (
	"math"
	"math/rand"
	"sort"
)

// load is the operations of each strand, drawn before the clock starts, with the shares that workload.cpp has.
func load(operations int64, writes float64, keys, strands int32, skew float64, seed int64) [][]operation {
	random := rand.New(rand.NewSource(seed))
	chosen := newKeyChoice(keys, strands, skew)
	all := make([][]operation, strands)
	version := uint64(0)
	for i := range all {
		strand := int64(i)
		share := operations*(strand+1)/int64(strands) - operations*strand/int64(strands)
		all[i] = make([]operation, share)
		for k := range all[i] {
			version++
			all[i][k] = draw(random, writes, chosen, int32(i), version)
		}
	}
	return all
}

func draw(random *rand.Rand, writes float64, keys *keyChoice, strand int32, version uint64) operation {
	const deletesOfWrites, rangesOfReads = 0.25, 0.1
	if random.Float64() < writes {
		if random.Float64() < deletesOfWrites {
			return operation{remove, keys.own(random, strand), version}
		}
		return operation{set, keys.own(random, strand), version}
	}
	if random.Float64() < rangesOfReads {
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
	choice.place = rand.New(rand.NewSource(20240506)).Perm(len(choice.wanted))
	return choice
}

func (c *keyChoice) any(random *rand.Rand) int32 {
	if c.wanted == nil {
		return random.Int31n(c.keys)
	}
	return c.own(random, random.Int31n(c.strands))
}

func (c *keyChoice) own(random *rand.Rand, strand int32) int32 {
	if c.wanted == nil {
		return random.Int31n((c.keys-1-strand)/c.strands+1)*c.strands + strand
	}
	last := len(c.wanted) - 1
	rank := sort.SearchFloat64s(c.wanted[:last], random.Float64()*c.wanted[last])
	return int32(c.place[rank])*c.strands + strand
}
