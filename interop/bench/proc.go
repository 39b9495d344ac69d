package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ProcessMemory is how much memory a running process has resident, and the most
// that it has had, in bytes.
func ProcessMemory(pid int) (now, peak int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "VmRSS:" && f[0] != "VmHWM:" {
			continue
		}
		kb, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		if f[0] == "VmRSS:" {
			now = kb << 10
		} else {
			peak = kb << 10
		}
	}
	if now == 0 || peak == 0 {
		return 0, 0, fmt.Errorf("process %d: its status has no VmRSS or no VmHWM", pid)
	}
	return now, peak, nil
}

// userHZ is the unit of times in /proc, the same on every Linux.
const userHZ = 100

// ProcessCPU is the user and system time of a running process so far.
func ProcessCPU(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold spaces; utime and stime are fields 14
	// and 15, the state behind the name is field 3.
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 13 {
		return 0, fmt.Errorf("process %d: short stat", pid)
	}
	var ticks int64
	for _, v := range f[11:13] {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHZ, nil
}
