package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/proto"
)

// description is a link and its manifest, for inspect.
type description struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Bytes       int64          `json:"bytes"`
	Pieces      int            `json:"pieces"`
	PieceLength uint32         `json:"piece_length"`
	Trackers    []ma.Multiaddr `json:"trackers"`
	Peers       []ma.Multiaddr `json:"peers"`
	Coded       int            `json:"coded,omitempty"`
	Strategy    string         `json:"strategy,omitempty"`
	Plan        string         `json:"plan,omitempty"`
	InfoHash    string         `json:"info_hash,omitempty"`
	BTTrackers  []string       `json:"bt_trackers,omitempty"`
	Foreign     []proto.Param  `json:"foreign"`
	Entries     []entry        `json:"entries"`
}

// entry is a file, a directory or a symbolic link.
type entry struct {
	Path   string    `json:"path"`
	Kind   string    `json:"kind"`
	Size   int64     `json:"size"`
	Mode   string    `json:"mode"`
	MTime  time.Time `json:"mtime,omitzero"`
	Target string    `json:"target,omitempty"`
}

func newDescription(link *proto.Link, m *proto.Manifest) description {
	d := description{
		ID:          link.Manifest.String(),
		Name:        m.Name,
		Bytes:       m.Length(),
		Pieces:      m.Pieces(),
		PieceLength: m.PieceLength,
		Trackers:    append([]ma.Multiaddr{}, link.Trackers...),
		Peers:       append([]ma.Multiaddr{}, link.Peers...),
		Coded:       link.Coded,
		Strategy:    link.Strategy.String(),
		Foreign:     append([]proto.Param{}, link.Foreign...),
		Entries:     []entry{},
	}
	if link.Plan.Defined() {
		d.Plan = link.Plan.String()
	}
	if !link.InfoHash.IsZero() {
		d.InfoHash, d.BTTrackers = link.InfoHash.String(), link.Announce
	}
	for _, e := range m.Entries {
		d.Entries = append(d.Entries, newEntry(e))
	}
	return d
}

func newEntry(e proto.Entry) entry {
	kinds := map[proto.EntryKind]string{
		proto.File:    "file",
		proto.Dir:     "folder",
		proto.Symlink: "symlink",
		proto.Pad:     "padding",
	}
	out := entry{Path: e.Path, Kind: kinds[e.Kind], Size: e.Size, Mode: fmt.Sprintf("%04o", e.Mode), Target: e.Target}
	if e.MTime != proto.NoMTime && e.Kind != proto.Pad {
		out.MTime = time.Unix(0, e.MTime).UTC()
	}
	return out
}

// print writes the description for people.
func (d description) print(w term.TextWriter) {
	w.Line("name      %s", d.Name)
	w.Line("id        %s", d.ID)
	w.Size(d.Bytes, d.Pieces, int64(d.PieceLength))
	if d.Coded > 0 {
		w.Line("coded     %s", describeCoding(d.Coded, d.Strategy))
	}
	if d.Plan != "" {
		w.Line("plan      %s", d.Plan)
	}
	term.List(w, "trackers", d.Trackers)
	term.List(w, "peers", d.Peers)
	if d.InfoHash != "" {
		w.Line("info-hash %s", d.InfoHash)
	}
	term.List(w, "announce", d.BTTrackers)
	for i, p := range d.Foreign {
		w.Line("%s%s=%s", term.Heading("other", i), p.Key, p.Value)
	}
	w.Line("tree      %s", countEntries(d.Entries))
	for _, e := range d.Entries {
		if e.Kind == "padding" {
			w.Line("  ---- %9s  (padding)", term.Bytes(e.Size))
			continue
		}
		suffix := map[string]string{"folder": "/", "symlink": " -> " + e.Target}[e.Kind]
		w.Line("  %s %9s  %s", e.Mode, term.Bytes(e.Size), cmp.Or(e.Path, d.Name)+suffix)
	}
}

// countEntries says how many entries of each kind there are.
func countEntries(entries []entry) string {
	n := map[string]int{}
	for _, e := range entries {
		n[e.Kind]++
	}
	var out []string
	for _, kind := range [][2]string{{"file", "file"}, {"folder", "directory"}, {"symlink", "symbolic link"}} {
		if n[kind[0]] > 0 {
			out = append(out, term.Plural(n[kind[0]], kind[1]))
		}
	}
	return cmp.Or(strings.Join(out, ", "), "empty")
}
