package netns

import (
	"time"

	"github.com/prometheus/procfs"
)

// Usage is the resources of one or more processes.
type Usage struct {
	// CPU is the user and system time of all of them.
	CPU time.Duration
	// Peak is the highest resident memory of any one so far, and Memory the resident memory of the last one
	// now, in bytes.
	Peak, Memory int64
}

// Add adds the usage of another process.
func (u *Usage) Add(v Usage) {
	u.CPU += v.CPU
	u.Peak = max(u.Peak, v.Peak)
	u.Memory = v.Memory
}

// Usage returns the resources of the command and of children that it has waited for; its memory is
// its own. It fails once the command has ended.
func (p *Process) Usage() (Usage, error) { return UsageOf(p.Pid()) }

// UsageOf is [Process.Usage] of any process.
func UsageOf(pid int) (Usage, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return Usage{}, err
	}
	stat, err := p.Stat()
	if err != nil {
		return Usage{}, err
	}
	status, err := p.NewStatus()
	const userHZ = 100 // the unit of times in /proc, the same on every Linux
	ticks := time.Duration(stat.UTime) + time.Duration(stat.STime) + time.Duration(stat.CUTime) + time.Duration(stat.CSTime)
	return Usage{ticks * time.Second / userHZ, int64(status.VmHWM), int64(status.VmRSS)}, err
}
