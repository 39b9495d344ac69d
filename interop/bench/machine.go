package bench

import (
	"context"
	"errors"
	"os"

	"github.com/prometheus/procfs"
)

// machineTime is the time of all cores since the machine was started, and the part of it in
// which they were not idle, in seconds.
func machineTime() (busy, all float64, err error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0, err
	}
	s, err := fs.Stat()
	c := s.CPUTotal
	busy = c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
	return busy, busy + c.Idle + c.Iowait, err
}

// MachineShare starts to measure the share of the time of all cores in which they are not idle. The result returns the
// share until now, and 0 if it is not known.
func MachineShare() (share func() float64) {
	busy, all, err := machineTime()
	return func() float64 {
		busyNow, allNow, errNow := machineTime()
		if err != nil || errNow != nil || allNow <= all {
			return 0
		}
		return (busyNow - busy) / (allNow - all)
	}
}

// availableMemory is the kernel's estimate of memory for programs, in bytes; zero if there is
// none.
func availableMemory() int64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	info, err := fs.Meminfo()
	if err != nil || info.MemAvailableBytes == nil {
		return 0
	}
	return int64(*info.MemAvailableBytes)
}

// warmMemory writes a file of n bytes in dir and removes it. On a virtual machine the first
// touch of a free page can cost any program more than a transfer; the file does it before.
func warmMemory(ctx context.Context, dir string, n int64) error {
	f, err := os.CreateTemp(dir, "warm")
	if err != nil {
		return err
	}
	chunk := make([]byte, 32<<10) // as programs write: the kernel keeps free memory by the size of its last use
	for written := int64(0); written < n && err == nil; written += int64(len(chunk)) {
		err = ctx.Err()
		if err == nil {
			_, err = f.Write(chunk)
		}
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
