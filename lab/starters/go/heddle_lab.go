package main

// The part of a lab program that is the same in each: it reads the command line, runs one model, has the result checked, and
// prints the one JSON line that `heddle compare` reads.

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Lab is a lab program. Declare its parameters and models, then call Run.
type Lab struct {
	workload string
	wanted   string
	list     bool
	given    map[string]string
	params   map[string]int64
	models   map[string]func()
	// Result is the answer or a checksum of it: all models must come to the same one.
	Result string
	// Metrics are figures, with their units in their names (_ns, _bytes, _per_s).
	Metrics map[string]float64
	// Counters are counts that say why: p_operations, allocations …
	Counters map[string]float64
}

// NewLab reads the command line; a wrong one ends the program.
func NewLab(workload string) *Lab {
	lab := &Lab{workload: workload, given: map[string]string{}, params: map[string]int64{}, models: map[string]func(){},
		Metrics: map[string]float64{}, Counters: map[string]float64{}}
	for _, argument := range os.Args[1:] {
		name, value, found := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		switch {
		case argument == "--list":
			lab.list = true
		case !found || !strings.HasPrefix(argument, "--"):
			fail("`%s`: expected --NAME=VALUE", argument)
		case name == "model":
			lab.wanted = value
		default:
			lab.given[name] = value
		}
	}
	return lab
}

// Parameter is the value of --NAME=…, or fallback. One outside of least … most ends the program.
func (lab *Lab) Parameter(name string, fallback, least, most int64) int64 {
	value := fallback
	if text, found := lab.given[name]; found {
		parsed, err := strconv.ParseInt(text, 10, 64)
		if err != nil || parsed < least || parsed > most {
			fail("--%s=%s: expected %d … %d", name, text, least, most)
		}
		value = parsed
		delete(lab.given, name)
	}
	lab.params[name] = value
	return value
}

// Model declares a model; body is what is measured, all of it.
func (lab *Lab) Model(name string, body func()) { lab.models[name] = body }

// Run runs the model that the command line names, has oracle check its result and say what it compared, and prints the line.
func (lab *Lab) Run(oracle func() (bool, string)) {
	var names []string
	for name := range lab.models {
		names = append(names, name)
	}
	sort.Strings(names)
	if lab.list {
		fmt.Println(strings.Join(names, "\n"))
		return
	}
	for name := range lab.given {
		fail("unknown parameter --%s", name)
	}
	body, found := lab.models[lab.wanted]
	if !found {
		fail("unknown model `%s`; there are: %s", lab.wanted, strings.Join(names, " "))
	}
	before, start := used(), time.Now()
	body()
	lab.Metrics["wall_ns"] = float64(time.Since(start).Nanoseconds())
	after := used()
	lab.Metrics["cpu_ns"] = float64(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	lab.Counters["voluntary_switches"] = float64(after.Nvcsw - before.Nvcsw)
	lab.Counters["involuntary_switches"] = float64(after.Nivcsw - before.Nivcsw)
	ok, checked := oracle()
	line, err := json.Marshal(map[string]interface{}{
		"workload": lab.workload, "model": lab.wanted, "params": lab.params, "result": lab.Result,
		"oracle": map[string]interface{}{"ok": ok, "checked": checked}, "metrics": lab.Metrics, "counters": lab.Counters})
	if err == nil {
		_, err = fmt.Println(string(line))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// CannotRun ends the program where a model lacks something on this machine: what, and what would help. `heddle compare` then
// skips the model and prints that.
func CannotRun(why string) {
	fmt.Fprintln(os.Stderr, "error:", why)
	os.Exit(77)
}

func used() syscall.Rusage {
	var now syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &now) // zeros where it fails
	return now
}

func fail(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, "error: "+format+"\nusage: %s --model=MODEL [--NAME=VALUE …], or --list\n", append(values, os.Args[0])...)
	os.Exit(2)
}
