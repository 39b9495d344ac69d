package transfer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// getFrame shows the progress of a transfer. Blocks of a piece are progress, too.
func getFrame(st peer.Status) term.State {
	f := term.State{Name: cmp.Or(st.Name, st.ID), Part: st.Have, All: st.Length, At: struct {
		phase               peer.Phase
		have, length, moved int64
	}{st.Phase, st.Have, st.Length, st.Traffic.WANIn + st.Traffic.LANIn}}
	f.Reason, f.Remedy = waitsFor(st)
	if st.Length < 0 {
		f.Text = command.Waiting(st)
		f.Notes = []string{f.Text}
		return f
	}
	percent := term.Percent(st.Have, st.Length)
	size := term.Bytes(st.Have) + " of " + term.Bytes(st.Length)
	f.Facts = fmt.Sprintf("%3d%% %s", percent, size)
	f.Text = fmt.Sprintf("%d%%, %s, %s", percent, size, strings.Join(flow(st), ", "))
	f.Notes = []string{strings.Join(flow(st), "  ")}
	if st.Phase == peer.Checking {
		f.Text, f.Notes = fmt.Sprintf("checking files, %d%%", percent), []string{"checking files"}
	}
	if st.Waiting != "" {
		f.Text = fmt.Sprintf("%d%%, %s", percent, command.Waiting(st))
		f.Notes = append(f.Notes, command.Waiting(st))
	}
	return f
}

// waitsFor returns what a transfer without progress waits for, and a remedy.
func waitsFor(st peer.Status) (reason, remedy string) {
	const source = "start the source again, or `mob seed` the content again on any node"
	switch {
	case st.Phase == peer.Checking && st.Waiting == "":
		return "checking files", "does the disk answer (`dmesg`, `mount`)?"
	case st.Phase == peer.Checking: // it has a remedy
		return command.Waiting(st), ""
	case st.Phase == peer.Seeking:
		return command.Waiting(st), "is the source running? Otherwise " + source
	case st.Waiting == "":
		return fmt.Sprintf("waiting for blocks of %s", term.Plural(st.Connected, "peer")), "`mob status` with the link shows their state"
	case st.Have >= st.Length:
		return command.Waiting(st), "does it answer (`dmesg`, `mount`), and has it room?"
	}
	return command.Waiting(st), source
}

// flow returns the rate, where bytes came from, the time left and the number of peers.
func flow(st peer.Status) []string {
	in := st.Rate.WANIn + st.Rate.LANIn
	out := []string{term.Rate(in)}
	if got := st.Traffic.WANIn + st.Traffic.LANIn; got > 0 {
		wan := term.Percent(st.Traffic.WANIn, got)
		out = append(out, fmt.Sprintf("%d%% WAN %d%% LAN", wan, 100-wan))
	}
	if left := term.Left(st.Length-st.Have, in); left != "" {
		out = append(out, left)
	}
	return append(out, term.Plural(st.Connected, "peer"))
}

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
