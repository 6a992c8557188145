package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ProcessSize is what /proc/self/status says of this process's memory: bytes by the names of its lines, VmRSS (pages that are
// there), VmHWM (the most that ever were), VmPTE (their page tables), VmSize and VmPeak (address space), and others.
func ProcessSize() (map[string]float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, err
	}
	found := map[string]float64{}
	for _, line := range strings.Split(string(status), "\n") {
		name, value, _ := strings.Cut(line, ":")
		kilobytes := strings.TrimSuffix(strings.TrimSpace(value), " kB")
		if !strings.HasPrefix(name, "Vm") {
			continue
		}
		number, err := strconv.ParseFloat(kilobytes, 64)
		if err != nil {
			return nil, fmt.Errorf("/proc/self/status: %s: %v", name, err)
		}
		found[name] = number * 1024
	}
	return found, nil
}
