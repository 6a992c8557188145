package main

import (
	"fmt"
	"math"

	harness "heddle/lab/harness/go"
)

type settings struct {
	n, strands       int
	epsilon, initial float64
	limit            int64 // of iterations
	stripsMove       bool
}

// grid has the boundary in rows and columns 0 and n + 1.
type grid [][]float64

// newGrid has the boundary of x² − y² on the unit square.
func newGrid(n int, initial float64) grid {
	values := make(grid, n+2)
	side := float64(n + 1)
	for i := range values {
		values[i] = make([]float64, n+2)
		for j := range values[i] {
			if i > 0 && i <= n && j > 0 && j <= n {
				values[i][j] = initial
			} else {
				values[i][j] = (float64(j)*float64(j) - float64(i)*float64(i)) / (side * side)
			}
		}
	}
	return values
}

// relax computes row i of next from the rows around it; the largest change in it.
func relax(from, next grid, i int) float64 {
	above, here, below, row := from[i-1], from[i], from[i+1], next[i]
	// The compiler need not look at each index then.
	above, below, row = above[:len(here)], below[:len(here)], row[:len(here)]
	largest := 0.0
	for j := 1; j < len(here)-1; j++ {
		value := 0.25 * (above[j] + below[j] + here[j-1] + here[j+1])
		row[j] = value
		if change := math.Abs(value - here[j]); change > largest {
			largest = change
		}
	}
	return largest
}

// change is the largest of one strand in one iteration, on a cache line of its own.
type change struct {
	by float64
	_  [56]byte
}

// problem is workload.hpp's: two grids and two rows of changes, by turns.
type problem struct {
	settings
	grids      [2]grid
	changes    [2][]change
	iterations int64
	counted    []harness.PCount // a strand
}

func newProblem(s settings) *problem {
	p := &problem{settings: s, counted: make([]harness.PCount, s.strands)}
	for i := range p.grids {
		p.grids[i] = newGrid(s.n, s.initial)
		p.changes[i] = make([]change, s.strands)
	}
	return p
}

// strip is rows first … last-1: what a strand computes in an iteration.
func (p *problem) strip(strand int, iteration int64) (first, last int) {
	if p.stripsMove && iteration&1 != 0 {
		strand = (strand + p.strands/2) % p.strands
	}
	return 1 + p.n*strand/p.strands, 1 + p.n*(strand+1)/p.strands
}

// done is whether that iteration was the last; to be asked after all strands have met.
func (p *problem) done(iteration int64) bool {
	if iteration+1 >= p.limit {
		return true
	}
	for _, change := range p.changes[iteration&1] {
		if change.by > p.epsilon {
			return false
		}
	}
	return true
}

// solve is what a strand does; meet waits for all the others.
func (p *problem) solve(strand int, meet func()) {
	for k := int64(0); ; k++ {
		from, next := p.grids[k&1], p.grids[1-k&1]
		first, last := p.strip(strand, k)
		largest := 0.0
		for i := first; i < last; i++ {
			largest = math.Max(largest, relax(from, next, i))
		}
		p.changes[k&1][strand].by = largest
		meet()
		if p.done(k) {
			if strand == 0 {
				p.iterations = k + 1
			}
			return
		}
	}
}

// result is workload.cpp's: the iterations, and a digest of the interior points.
func (p *problem) result() string {
	var values harness.Digest
	for _, row := range p.grids[p.iterations&1][1 : p.n+1] {
		for _, value := range row[1 : p.n+1] {
			values.Add(math.Float64bits(value))
		}
	}
	return fmt.Sprintf("%d iterations, %v", p.iterations, values)
}

// check solves the problem again, with one strand.
func (p *problem) check() harness.Oracle {
	alone := p.settings
	alone.strands = 1
	right := newProblem(alone)
	right.solve(0, func() {})
	if p.iterations != right.iterations {
		return harness.Oracle{Checked: fmt.Sprintf(
			"expected: %d iterations, as one strand needs; %d were made", right.iterations, p.iterations)}
	}
	got, expected := p.grids[p.iterations&1], right.grids[p.iterations&1]
	for i := range expected {
		for j := range expected[i] {
			if got[i][j] != expected[i][j] {
				return harness.Oracle{Checked: fmt.Sprintf(
					"point (%d, %d): expected %v, as one strand has it; got %v", i, j, expected[i][j], got[i][j])}
			}
		}
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf(
		"all points and the %d iterations equal those of one strand", p.iterations)}
}
