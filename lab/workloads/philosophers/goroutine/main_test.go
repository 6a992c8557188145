package main

import "testing"

func TestEachHasItsMeals(t *testing.T) {
	table := newTable(5, 100, 10, 100000, true)
	table.run()
	if oracle := table.check(); !oracle.OK {
		t.Error(oracle.Checked)
	}
}

func TestTheOracleNoticesNeighboursWhoEatAtATimeAndAMealThatIsMissing(t *testing.T) {
	table := newTable(3, 1, 1, 1, true)
	table.take(0, 1)
	table.take(1, 1)
	table.putBack(0, 1)
	for i := range table.seats {
		table.dine(i)
	}
	if table.check().OK {
		t.Error("two had the same fork, and it passed")
	}
	table = newTable(3, 1, 1, 1, true)
	table.dine(0)
	table.dine(1)
	if table.check().OK {
		t.Error("one had no meal, and it passed")
	}
}
