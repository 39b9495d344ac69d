package netns

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is the resources of one or more processes.
type Usage struct {
	// CPU is the user and system time of all of them.
	CPU time.Duration
	// Peak is the highest resident memory of any one, in bytes.
	Peak int64
}

// Add adds the usage of another process.
func (u *Usage) Add(v Usage) {
	u.CPU += v.CPU
	u.Peak = max(u.Peak, v.Peak)
}

// Usage returns the resources of the command and of children that it has waited for; Peak is
// its own. It fails once the command has ended.
func (p *Process) Usage() (Usage, error) { return UsageOf(p.Pid()) }

// UsageOf is [Process.Usage] of any process.
func UsageOf(pid int) (Usage, error) {
	cpu, err := processCPU(pid)
	if err != nil {
		return Usage{}, err
	}
	_, peak, err := processMemory(pid)
	return Usage{CPU: cpu, Peak: peak}, err
}

// Memory is the resident memory of the command itself, in bytes. It fails once the command has ended.
func (p *Process) Memory() (int64, error) { return MemoryOf(p.Pid()) }

// MemoryOf is [Process.Memory] of any process.
func MemoryOf(pid int) (int64, error) {
	now, _, err := processMemory(pid)
	return now, err
}

// Descriptors is the number of open files and sockets of the command itself. It fails once the
// command has ended.
func (p *Process) Descriptors() (int, error) {
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Pid()))
	return len(fds), err
}

// processMemory reads the resident memory of a process and its highest value so far, in bytes.
func processMemory(pid int) (now, peak int64, err error) {
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
		return 0, 0, fmt.Errorf("process %d: no VmRSS or no VmHWM in its status", pid)
	}
	return now, peak, nil
}

// userHZ is the unit of times in /proc, the same on every Linux.
const userHZ = 100

// processCPU reads the user and system time of a process and of children that it has waited for.
func processCPU(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may contain spaces. Of the fields after it, the first is field 3;
	// utime, stime, cutime and cstime are fields 14 to 17.
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 15 {
		return 0, fmt.Errorf("process %d: short stat", pid)
	}
	var ticks int64
	for _, v := range f[11:15] {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHZ, nil
}
