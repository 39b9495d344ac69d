package transfer

import (
	"fmt"
	"time"

	"github.com/mobgrid/mob/cli/term"
)

// hashFrame shows the progress of hashing.
func hashFrame(name string, done, total int64, took time.Duration) term.State {
	f := term.State{Name: name, At: done, Part: done, All: total, Remedy: "does the disk answer (`dmesg`, `mount`)?"}
	if total == 0 {
		f.Text, f.Reason = "looking at the files", "looking at the files"
		f.Notes = []string{f.Text}
		return f
	}
	rate := term.Average(done, took)
	f.Text = fmt.Sprintf("%d%% of %s hashed, %s", term.Percent(done, total), term.Bytes(total), term.Rate(rate))
	if left := term.Left(total-done, rate); left != "" {
		f.Text += ", " + left
	}
	f.Facts = f.Text
	f.Reason = fmt.Sprintf("%s of %s hashed", term.Bytes(done), term.Bytes(total))
	return f
}
