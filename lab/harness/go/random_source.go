package harness

import "strconv"

// RandomSource has the numbers of random_source.hpp: problems are the same in every language.
type RandomSource uint64

func (r *RandomSource) next() uint64 {
	*r = *r*multiplier + increment
	return uint64(*r)
}

// Below is a number below `count`.
func (r *RandomSource) Below(count int32) int32 { return int32(r.next() >> 32 * uint64(count) >> 32) }

// Share is a number from 0 to below 1.
func (r *RandomSource) Share() float64 { return float64(r.next()>>11) / (1 << 53) }

// Permutation is the numbers below `count` in random order.
func (r *RandomSource) Permutation(count int) []int {
	order := make([]int, count)
	for i := range order {
		at := r.Below(int32(i + 1))
		order[i], order[at] = order[at], i
	}
	return order
}

// Digest is the checksum of digest.hpp: of numbers in their order, the same in every language.
type Digest uint64

// Add adds a number.
func (d *Digest) Add(number uint64) {
	*d = (*d ^ Digest(number+1)) * 0x100000001B3
	*d ^= *d >> 32
}

func (d Digest) String() string { return strconv.FormatUint(uint64(d), 10) }
