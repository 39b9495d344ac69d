package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/peer"
)

// getFrame shows how far a transfer is.
type getFrame struct{ st peer.Status }

func (f getFrame) picture(width int) []string {
	st := f.st
	if st.Length < 0 {
		return append([]string{f.name()}, indented(f.waits(), width)...)
	}
	facts := fmt.Sprintf(" %3d%% %s of %s", format.Percent(st.Have, st.Length), format.Size(st.Have), format.Size(st.Length))
	lines := []string{f.name(), "  " + format.Bar(st.Have, st.Length, max(10, min(width-len(facts)-6, 50))) + facts}
	switch {
	case st.Phase == peer.Checking:
		lines = append(lines, "  checking what is there")
	default:
		lines = append(lines, "  "+strings.Join(f.facts(), "  "))
	}
	if st.Waiting != "" {
		lines = append(lines, indented(f.waits(), width)...)
	}
	return lines
}

func (f getFrame) line() string {
	st := f.st
	switch {
	case st.Length < 0:
		return f.name() + ": " + f.waits()
	case st.Phase == peer.Checking:
		return fmt.Sprintf("%s: checking what is there, %d%%", f.name(), format.Percent(st.Have, st.Length))
	case st.Waiting != "":
		return fmt.Sprintf("%s: %d%%, %s", f.name(), format.Percent(st.Have, st.Length), f.waits())
	}
	return fmt.Sprintf("%s: %d%%, %s of %s, %s", f.name(), format.Percent(st.Have, st.Length), format.Size(st.Have), format.Size(st.Length),
		strings.Join(f.facts(), ", "))
}

// facts are rate, shares, time left and peers.
func (f getFrame) facts() []string {
	st := f.st
	in := st.Rate.WANIn + st.Rate.LANIn
	out := []string{format.Rate(in)}
	if got := st.Traffic.WANIn + st.Traffic.LANIn; got > 0 {
		wan := format.Percent(st.Traffic.WANIn, got)
		out = append(out, fmt.Sprintf("%d%% wan %d%% lan", wan, 100-wan))
	}
	if left := st.Length - st.Have; left > 0 && in > 0 {
		out = append(out, format.Span(time.Duration(float64(left)/float64(in)*float64(time.Second)))+" left")
	}
	return append(out, format.Count(st.Connected, "peer"))
}

func (f getFrame) name() string { return cmp.Or(f.st.Name, f.st.ID) }

// waits says what the transfer waits for, or what it does before it begins.
func (f getFrame) waits() string {
	if f.st.Length < 0 {
		return cmp.Or(f.st.Waiting, "looking for the content")
	}
	return "waiting for " + f.st.Waiting
}
