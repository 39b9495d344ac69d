package cli

import (
	"fmt"

	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/peer"
)

// receipt is what a get has cost.
type receipt struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Path    string  `json:"path"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	// Rate is in bytes per second.
	Rate    int64 `json:"rate"`
	FromWAN int64 `json:"from_wan"`
	FromLAN int64 `json:"from_lan"`
	// Duplicate bytes came more than once; they are in the above.
	Duplicate int64 `json:"duplicate"`
	// Present bytes were there before.
	Present int64 `json:"present"`
}

func newReceipt(st peer.Status) receipt {
	fetched := st.Traffic.WANIn + st.Traffic.LANIn
	return receipt{
		ID: st.ID, Name: st.Name, Path: st.Root, Bytes: st.Length,
		Seconds: st.Elapsed.Seconds(), Rate: format.Average(fetched-st.Duplicate, st.Elapsed),
		FromWAN: st.Traffic.WANIn, FromLAN: st.Traffic.LANIn, Duplicate: st.Duplicate,
		Present: max(0, st.Length-(fetched-st.Duplicate)),
	}
}

// printReceipt prints what a get has cost, in one line.
func (g *global) printReceipt(st peer.Status) error {
	r := newReceipt(st)
	if g.json {
		return format.JSON(g.Out, r)
	}
	text := fmt.Sprintf("%s: %s in %s, %s; %s from WAN, %s from LAN, %s duplicate",
		r.Path, format.Size(r.Bytes), format.Span(st.Elapsed), format.Rate(r.Rate), format.Size(r.FromWAN), format.Size(r.FromLAN), format.Size(r.Duplicate))
	if r.Present > 0 {
		text += fmt.Sprintf(", %s were here before", format.Size(r.Present))
	}
	_, err := fmt.Fprintln(g.Out, format.Printable(text))
	return err
}
