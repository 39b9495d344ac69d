package transfer

import (
	"fmt"
	"time"

	"github.com/mobgrid/mob/cli/term"
)

// hashFrame shows the progress of hashing.
type hashFrame struct {
	name        string
	done, total int64
	took        time.Duration
}

func (f hashFrame) Picture(width int) []string {
	if f.total == 0 {
		return []string{f.Line()}
	}
	facts := fmt.Sprintf(" %3d%% of %s hashed, %s", term.Percent(f.done, f.total), term.Bytes(f.total), f.rate())
	return []string{f.name, "  " + term.BarBeside(facts, f.done, f.total, width)}
}

func (f hashFrame) Line() string {
	if f.total == 0 {
		return f.name + ": looking at the files"
	}
	return fmt.Sprintf("%s: %d%% of %s hashed, %s", f.name, term.Percent(f.done, f.total), term.Bytes(f.total), f.rate())
}

// Position implements [term.Progress].
func (f hashFrame) Position() any { return f.done }

// Waiting implements [term.Progress].
func (f hashFrame) Waiting() (what, remedy string) {
	if f.total == 0 {
		return "looking at the files", "does the disk answer (`dmesg`, `mount`)?"
	}
	what = fmt.Sprintf("%s of %s hashed", term.Bytes(f.done), term.Bytes(f.total))
	return what, "does the disk answer (`dmesg`, `mount`)?"
}

// rate returns the rate so far, and the time left at that rate.
func (f hashFrame) rate() string {
	rate := term.Average(f.done, f.took)
	if left := term.Left(f.total-f.done, rate); left != "" {
		return term.Rate(rate) + ", " + left
	}
	return term.Rate(rate)
}
