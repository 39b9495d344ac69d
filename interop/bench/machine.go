package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// machineTime is the time of all cores since the machine was started, and the part of it in
// which they were not idle, in ticks.
func machineTime() (busy, all float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, fmt.Errorf("/proc/stat begins with %q", first)
	}
	for i, v := range fields[1:9] { // user, nice, system, idle, iowait, irq, softirq, steal
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/stat: %w", err)
		}
		all += n
		if i != 3 && i != 4 {
			busy += n
		}
	}
	return busy, all, nil
}
