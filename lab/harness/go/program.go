package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// UsageError is a command line that cannot be meant: exit code 2.
type UsageError struct{ error }

// Usage is such an error in words.
func Usage(format string, arguments ...interface{}) error {
	return UsageError{fmt.Errorf(format, arguments...)}
}

// Missing is what this machine lacks for the run, and what would help: exit code 77, on which the runner skips the model.
type Missing string

func (m Missing) Error() string { return string(m) }

// Main is a lab program: it prints the sample that comes of the command line and exits. See docs/workloads.md.
func Main(program func(arguments []string) (Sample, error)) {
	os.Exit(end(program, os.Args[1:], os.Stdout, os.Stderr))
}

func end(program func([]string) (Sample, error), arguments []string, out, complaints io.Writer) int {
	sample, err := program(arguments)
	if err == nil {
		err = sample.Print(out)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(complaints, "error: %v\n", err)
	var usage UsageError
	var missing Missing
	switch {
	case errors.As(err, &usage):
		return 2
	case errors.As(err, &missing):
		return 77
	}
	return 1
}
