// Package harness is what every Go lab program shares: it measures one run and prints the JSON line that
// docs/workloads.md describes, as the C++ harness does.
package harness

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// Oracle is the verdict on a run's result.
type Oracle struct {
	OK       bool   `json:"ok"`
	Deadlock bool   `json:"deadlock,omitempty"` // the run will never end
	Checked  string `json:"checked"`
}

// Sample is one run of one model, as printed.
type Sample struct {
	Workload string                 `json:"workload"`
	Model    string                 `json:"model"`
	Params   map[string]interface{} `json:"params"`
	Oracle   Oracle                 `json:"oracle"`
	Ran      string                 `json:"ran,omitempty"`    // the model whose code ran, where it is another's
	Result   string                 `json:"result,omitempty"` // equal in all languages
	Metrics  map[string]float64     `json:"metrics"`
	Counters map[string]float64     `json:"counters"`
	Build    map[string]string      `json:"build"`
}

// Region is the stretch of a run that is measured. Begin and End bracket the run without its set-up
// (wall_ns); without them it is the whole (total_ns).
type Region struct {
	begin, end       time.Time
	beginCPU, endCPU int64
}

// Begin marks the end of the set-up.
func (r *Region) Begin() {
	r.beginCPU = cpu(usage())
	r.begin = time.Now()
}

// End marks the end of the run.
func (r *Region) End() {
	r.end = time.Now()
	r.endCPU = cpu(usage())
}

func usage() syscall.Rusage {
	var used syscall.Rusage
	// The only error is an invalid first argument.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return used
}

func cpu(used syscall.Rusage) int64 { return used.Utime.Nano() + used.Stime.Nano() }

func kernelThreads() float64 {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	return float64(len(tasks))
}

// Measure runs body and fills in the metrics and counters that every sample has.
func (s *Sample) Measure(body func(*Region)) {
	var before, after runtime.MemStats
	var timed Region
	runtime.ReadMemStats(&before)
	sizeBefore, _ := ProcessSize() // without it, there is no figure
	used := usage()
	start := time.Now()
	body(&timed)
	stop := time.Now()
	now := usage()
	size, _ := ProcessSize()
	runtime.ReadMemStats(&after)

	if timed.end.IsZero() {
		timed.begin, timed.end = start, stop
		timed.beginCPU, timed.endCPU = cpu(used), cpu(now)
	}
	s.Metrics = map[string]float64{
		"wall_ns":  float64(timed.end.Sub(timed.begin).Nanoseconds()),
		"cpu_ns":   float64(timed.endCPU - timed.beginCPU),
		"total_ns": float64(stop.Sub(start).Nanoseconds()),
		// Against what there was before the run; exact only without a warm-up before.
		"grown_bytes":    math.Max(0, size["VmHWM"]-sizeBefore["VmRSS"]),
		"reserved_bytes": math.Max(0, size["VmPeak"]-sizeBefore["VmSize"]),
	}
	s.Counters = map[string]float64{
		"user_ns":              float64(now.Utime.Nano() - used.Utime.Nano()),
		"sys_ns":               float64(now.Stime.Nano() - used.Stime.Nano()),
		"peak_rss_bytes":       size["VmHWM"],
		"voluntary_switches":   float64(now.Nvcsw - used.Nvcsw),
		"involuntary_switches": float64(now.Nivcsw - used.Nivcsw),
		"strand_switches":      0,
		"p_operations":         0,
		"blocked_p_operations": 0,
		"allocations":          float64(after.Mallocs - before.Mallocs),
		"kernel_threads":       kernelThreads(),
	}
	s.Build = map[string]string{
		"compiler": "Go " + runtime.Version()[len("go"):],
		"flags":    buildFlags(),
	}
}

// buildFlags is what this program was compiled with, as it remembers itself: -gcflags='all=-N -l' -trimpath.
func buildFlags() string {
	var flags []string
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range built.Settings {
			switch {
			case !strings.HasPrefix(setting.Key, "-") || setting.Key == "-compiler" || setting.Key == "-buildmode":
			case setting.Value == "true":
				flags = append(flags, setting.Key)
			case strings.Contains(setting.Value, " "):
				flags = append(flags, setting.Key+"='"+setting.Value+"'")
			default:
				flags = append(flags, setting.Key+"="+setting.Value)
			}
		}
	}
	return strings.Join(flags, " ")
}

// Print writes the line.
func (s *Sample) Print(out io.Writer) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", line)
	return err
}
