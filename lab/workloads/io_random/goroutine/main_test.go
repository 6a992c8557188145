package main

import (
	"os"
	"syscall"
	"testing"
)

func TestEveryReadIsOfItsOwnBlock(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	fd, err := scratch(50, false)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for _, depth := range []int{1, 8} {
		all, err := run(fd, 200, 50, depth)
		if err != nil {
			t.Fatal(err)
		}
		if oracle := check(all, 200); !oracle.OK {
			t.Errorf("depth %d: %s", depth, oracle.Checked)
		}
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestTheOracleNoticesAnotherFileAndALostRead(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	fd, err := scratch(20, false) // not the 50 that are read
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	all, err := run(fd, 200, 50, 4)
	if err != nil {
		t.Fatal(err)
	}
	if check(all, 200).OK {
		t.Error("reads past the end passed")
	}
	if check(result{199, 199 * 198 / 2}, 200).OK || !check(result{200, 200 * 199 / 2}, 200).OK {
		t.Error("a lost read passed, or none was lost and it did not")
	}
}
