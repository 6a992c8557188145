package harness

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// between two looks.
const deadlockInterval = 20 * time.Millisecond

// EndInDeadlock watches for a deadlock of all other goroutines from now on. If there is one it ends the program with the line
// of a run that ended so (docs/workloads.md), as the C++ harness does; what says who waits for what. The goroutines may wait for
// nothing but each other. They are looked at only where progress is the same as at the look before.
//
// Go's own check would end the program without that line; the timer that is pending here keeps it from being made.
func (s *Sample) EndInDeadlock(progress func() int64, what string) {
	before := int64(-1)
	for {
		time.Sleep(deadlockInterval)
		now := progress()
		if now == before && allWait() {
			os.Exit(s.printDeadlock(os.Stdout, what))
		}
		before = now
	}
}

func (s *Sample) printDeadlock(out io.Writer, what string) int {
	s.Oracle = Oracle{Deadlock: true, Checked: what}
	s.Metrics, s.Counters, s.Build = map[string]float64{}, map[string]float64{}, map[string]string{}
	if err := s.Print(out); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	return 1
}

// allWait is whether all goroutines but the calling one wait for others: at one moment, as the world is stopped meanwhile.
func allWait() bool {
	stacks := make([]byte, 1<<16)
	for {
		count := runtime.Stack(stacks, true)
		if count < len(stacks) {
			stacks = stacks[:count]
			break
		}
		stacks = make([]byte, 2*len(stacks))
	}
	all := bytes.Split(stacks, []byte("\n\n"))
	for _, each := range all[1:] { // the first is the calling one
		_, state, _ := bytes.Cut(each, []byte(" ["))
		waits := bytes.HasPrefix(state, []byte("chan ")) || bytes.HasPrefix(state, []byte("sem")) ||
			bytes.HasPrefix(state, []byte("sync."))
		if !waits {
			return false
		}
	}
	return true
}
