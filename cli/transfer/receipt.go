package transfer

import (
	"fmt"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// receipt is the cost of a get.
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
	// Levels split FromLAN by the groups that the node is in, its site first.
	Levels []peer.Level `json:"levels,omitempty"`
	// Duplicate counts bytes received more than once, which FromWAN and FromLAN
	// include.
	Duplicate int64 `json:"duplicate"`
	// Present counts bytes that existed before.
	Present int64 `json:"present"`
	// LeftOut counts the files that were not fetched.
	LeftOut peer.LeftOut `json:"left_out,omitzero"`
	// DroppedBits counts files and directories without their setuid, setgid or sticky bit.
	DroppedBits int `json:"dropped_bits,omitempty"`
	// Isolation is set if the node reached no member of its cluster.
	Isolation *peer.Isolation `json:"isolation,omitempty"`
}

func newReceipt(st peer.Status) receipt {
	useful := st.Traffic.WANIn + st.Traffic.LANIn - st.Duplicate
	return receipt{
		ID:        st.ID,
		Name:      st.Name,
		Path:      st.Root,
		Bytes:     st.Length,
		Seconds:   st.Elapsed.Seconds(),
		Rate:      term.Average(useful, st.Elapsed),
		FromWAN:   st.Traffic.WANIn,
		FromLAN:   st.Traffic.LANIn,
		Levels:    st.Levels,
		Duplicate: st.Duplicate,
		Present:   max(0, st.Length-useful),

		LeftOut:     st.LeftOut,
		DroppedBits: st.DroppedBits,
		Isolation:   st.Isolation,
	}
}

// printReceipt prints the cost of a get, in one line.
func printReceipt(a *command.App, st peer.Status) error {
	r := newReceipt(st)
	text := fmt.Sprintf("%s: %s in %s", r.Path, term.Bytes(r.Bytes), term.Duration(st.Elapsed))
	if r.FromWAN+r.FromLAN > 0 { // else it existed
		text += ", " + term.Rate(r.Rate)
	}
	text += "; "
	for _, n := range command.Networks(st) {
		text += term.Bytes(n.In) + " from " + n.Group + ", "
	}
	text += term.Bytes(r.Duplicate) + " duplicate"
	if r.Present > 0 {
		text += fmt.Sprintf(", %s already there", term.Bytes(r.Present))
	}
	if r.LeftOut.Files > 0 {
		text += "; " + command.LeftOut(r.LeftOut)
	}
	if r.DroppedBits > 0 {
		text += ", " + command.DroppedBits(r.DroppedBits)
	}
	if r.Isolation != nil {
		text += "; " + command.Isolation(st)
	}
	return a.Print(r, func(w term.TextWriter) { w.Line("%s", text) })
}
