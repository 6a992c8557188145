package main

import (
	"fmt"
	"math/rand"

	harness "heddle/lab/harness/go"
)

// work is C = A · B; rows are slices of their own, as the C++ models' int**.
type work struct {
	n       int
	a, b, c [][]int32
}

func newWork(n int, seed int64) *work {
	random := harness.RandomSource(seed)
	square := func(fill bool) [][]int32 {
		rows := make([][]int32, n)
		for i := range rows {
			rows[i] = make([]int32, n)
			for j := range rows[i] {
				if fill {
					rows[i][j] = random.Below(201) - 100
				}
			}
		}
		return rows
	}
	return &work{n: n, a: square(true), b: square(true), c: square(false)}
}

// multiplyRows computes rows first … last-1, an element as a sum over k, as the source's pseudo code.
func multiplyRows(w *work, first, last int) {
	b := w.b
	for i := first; i < last; i++ {
		row, out := w.a[i], w.c[i]
		for j := range out {
			var sum int32
			for k, factor := range row {
				sum += factor * b[k][j]
			}
			out[j] = sum
		}
	}
}

const blockRows, tileK, tileJ = 32, 64, 512 // as kernels.hpp

// multiplyBlocked computes the same rows in tiles, 32 rows at a time, as the C++ models' kernel.
func multiplyBlocked(w *work, first, last int) {
	for i := first; i < last; i += blockRows {
		multiplyTiles(w, i, least(i+blockRows, last))
	}
}

func multiplyTiles(w *work, first, last int) {
	for i := first; i < last; i++ {
		for j := range w.c[i] {
			w.c[i][j] = 0
		}
	}
	for k0 := 0; k0 < w.n; k0 += tileK {
		k1 := least(k0+tileK, w.n)
		for j0 := 0; j0 < w.n; j0 += tileJ {
			j1 := least(j0+tileJ, w.n)
			for i := first; i < last; i++ {
				out := w.c[i][j0:j1]
				for k := k0; k < k1; k++ {
					factor, b := w.a[i][k], w.b[k][j0:j1]
					for j := range out {
						out[j] += factor * b[j]
					}
				}
			}
		}
	}
}

func least(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// result is the digest of workload.cpp.
func (w *work) result() string {
	var elements harness.Digest
	for _, row := range w.c {
		for _, element := range row {
			elements.Add(uint64(int64(element)))
		}
	}
	return elements.String()
}

// check multiplies A · (B · r) and C · r for random vectors r (Freivalds), modulo 2^64: a wrong C passes
// each with a probability below one in a million.
func (w *work) check() harness.Oracle {
	const vectors = 4
	random := rand.New(rand.NewSource(^int64(w.n)))
	for v := 0; v < vectors; v++ {
		r := make([]uint64, w.n)
		for i := range r {
			r[i] = random.Uint64()
		}
		expected, got := times(w.a, times(w.b, r)), times(w.c, r)
		for i := range r {
			if got[i] != expected[i] {
				return harness.Oracle{Checked: fmt.Sprintf("row %d of C times a random vector: expected %d, got %d", i, expected[i], got[i])}
			}
		}
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf("C times %d random vectors equals A times (B times them), modulo 2^64", vectors)}
}

func times(rows [][]int32, r []uint64) []uint64 {
	product := make([]uint64, len(r))
	for i, row := range rows {
		for j, element := range row {
			product[i] += uint64(int64(element)) * r[j]
		}
	}
	return product
}
