package main

import "testing"

func TestAllStrandsComputeWhatOneComputes(t *testing.T) {
	for _, library := range []bool{false, true} {
		for _, stripsMove := range []bool{false, true} {
			for _, strands := range []int{1, 3, 8, 40} {
				p := newProblem(settings{n: 21, strands: strands, epsilon: 1e-3, limit: 1e6, stripsMove: stripsMove})
				run(p, library)
				if verdict := p.check(); !verdict.OK {
					t.Errorf("%d strands, moving %v, library %v: %s", strands, stripsMove, library, verdict.Checked)
				}
			}
		}
	}
}

func newSolution(s settings) *problem {
	p := newProblem(s)
	run(p, false)
	return p
}

func TestTheOracleNoticesAWrongPointAndAWrongNumberOfIterations(t *testing.T) {
	p := newProblem(settings{n: 21, strands: 3, epsilon: 1e-3, limit: 1e6})
	if p.check().OK {
		t.Error("nothing computed yet, and it passes")
	}
	run(p, false)
	point := &p.grids[p.iterations&1][7][5]
	*point += 1e-9
	if p.check().OK {
		t.Error("one point is wrong, and it passes")
	}
	*point = newSolution(p.settings).grids[p.iterations&1][7][5]
	if verdict := p.check(); !verdict.OK {
		t.Error(verdict.Checked)
	}
	p.iterations++
	if p.check().OK {
		t.Error("an iteration too many, and it passes")
	}
}
