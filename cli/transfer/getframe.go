package transfer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// getFrame shows the progress of a transfer.
type getFrame struct{ st peer.Status }

func (f getFrame) Picture(width int) []string {
	st := f.st
	if st.Length < 0 {
		return append([]string{f.name()}, term.Indent(command.Waiting(st), width)...)
	}
	facts := fmt.Sprintf(" %3d%% %s of %s", term.Percent(st.Have, st.Length), term.Bytes(st.Have), term.Bytes(st.Length))
	lines := []string{f.name(), "  " + term.BarBeside(facts, st.Have, st.Length, width)}
	if st.Phase == peer.Checking {
		lines = append(lines, "  checking files")
	} else {
		lines = append(lines, "  "+strings.Join(f.facts(), "  "))
	}
	if st.Waiting != "" {
		lines = append(lines, term.Indent(command.Waiting(st), width)...)
	}
	return lines
}

// Position implements [term.Progress]. Blocks of a piece are progress, too.
func (f getFrame) Position() any {
	st := f.st
	return struct {
		phase               peer.Phase
		have, length, moved int64
	}{st.Phase, st.Have, st.Length, st.Traffic.WANIn + st.Traffic.LANIn}
}

// Waiting implements [term.Progress].
func (f getFrame) Waiting() (what, remedy string) {
	st := f.st
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

func (f getFrame) Line() string {
	st := f.st
	switch {
	case st.Length < 0:
		return f.name() + ": " + command.Waiting(st)
	case st.Phase == peer.Checking && st.Waiting == "":
		return fmt.Sprintf("%s: checking files, %d%%", f.name(), term.Percent(st.Have, st.Length))
	case st.Waiting != "":
		return fmt.Sprintf("%s: %d%%, %s", f.name(), term.Percent(st.Have, st.Length), command.Waiting(st))
	}
	return fmt.Sprintf("%s: %d%%, %s of %s, %s", f.name(), term.Percent(st.Have, st.Length),
		term.Bytes(st.Have), term.Bytes(st.Length), strings.Join(f.facts(), ", "))
}

// facts returns the rate, where bytes came from, the time left and the number of
// peers.
func (f getFrame) facts() []string {
	st := f.st
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

func (f getFrame) name() string { return cmp.Or(f.st.Name, f.st.ID) }
