package bench

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
)

// warmMemory makes the kernel's free memory real, n bytes of it: on a virtual
// machine the first touch of a page costs more than a whole transfer, for any
// program that writes a file. It writes a file in dir and removes it.
func warmMemory(ctx context.Context, dir string, n int64) error {
	f, err := os.CreateTemp(dir, "warm")
	if err != nil {
		return err
	}
	chunk := make([]byte, 32<<10) // as programs write: the kernel keeps memory by the size of its use
	for written := int64(0); written < n && err == nil; written += int64(len(chunk)) {
		if err = ctx.Err(); err == nil {
			_, err = f.Write(chunk)
		}
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// availableMemory is what the kernel could give to programs, zero if it does not
// say.
func availableMemory() int64 {
	text, _ := os.ReadFile("/proc/meminfo") // without it there is nothing to read below
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}
