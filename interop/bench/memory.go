package bench

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
)

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

// availableMemory is the kernel's estimate of memory for programs, in bytes; zero if there is
// none.
func availableMemory() int64 {
	text, _ := os.ReadFile("/proc/meminfo") // empty without /proc
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}
