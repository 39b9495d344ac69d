package cli

import (
	"fmt"
	"time"
)

// hashFrame shows the progress of hashing.
type hashFrame struct {
	name        string
	done, total int64
	took        time.Duration
}

func (f hashFrame) picture(width int) []string {
	if f.total == 0 {
		return []string{f.line()}
	}
	facts := fmt.Sprintf(" %3d%% of %s hashed, %s", percent(f.done, f.total), formatBytes(f.total), f.rate())
	return []string{f.name, "  " + barBeside(facts, f.done, f.total, width)}
}

func (f hashFrame) line() string {
	if f.total == 0 {
		return f.name + ": looking at the files"
	}
	return fmt.Sprintf("%s: %d%% of %s hashed, %s", f.name, percent(f.done, f.total), formatBytes(f.total), f.rate())
}

// position implements [mover].
func (f hashFrame) position() any { return f.done }

// waitsFor implements [mover].
func (f hashFrame) waitsFor() (what, remedy string) {
	if f.total == 0 {
		return "looking at the files", "does the disk answer (`dmesg`, `mount`)?"
	}
	what = fmt.Sprintf("%s of %s hashed", formatBytes(f.done), formatBytes(f.total))
	return what, "does the disk answer (`dmesg`, `mount`)?"
}

// rate returns the rate so far, and the time left at that rate.
func (f hashFrame) rate() string {
	rate := average(f.done, f.took)
	if left := timeLeft(f.total-f.done, rate); left != "" {
		return formatRate(rate) + ", " + left
	}
	return formatRate(rate)
}
