package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/cli/torrents"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/proto"
)

const inspectHelp = `Shows what a link leads to: name, size, pieces, trackers, peers, and the tree of files.

The manifest, which lists these, is fetched from whoever has it, without the
content. A content of this node, or the file of a manifest, may be named instead, or
a torrent file, which is checked as one from a stranger.`

const inspectExample = `  mob inspect "$LINK"
  mob inspect big.tar --json
  mob inspect big.tar.torrent
  mob inspect "$LINK" --timeout 5m`

func newInspect(g *global) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "inspect LINK|ID|PATH|FILE", Short: "Show what a link leads to", Long: inspectHelp, Example: inspectExample,
		Args: args(1, "LINK|ID|PATH|FILE"),
		RunE: func(cmd *cobra.Command, given []string) error {
			if torrents.IsFile(given[0]) {
				return g.inspectTorrent(given[0])
			}
			return g.inspect(cmd.Context(), given[0], timeout)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long to look for the manifest")
	g.jsonFlag(cmd)
	return cmd
}

func (g *global) inspect(ctx context.Context, text string, timeout time.Duration) error {
	c, err := parseContent(text)
	if err != nil {
		return err
	}
	if c.link == nil {
		if m, id, err := readManifest(c.name); err == nil {
			return g.showManifest(&proto.Link{Manifest: id}, m)
		}
	}
	s, err := g.dialOrBorrow(ctx, c)
	if err != nil {
		return err
	}
	if c.link == nil {
		if err := c.find(ctx, s); err != nil {
			return errors.Join(err, s.close())
		}
	}
	m, info, err := g.seek(ctx, s, c.link, timeout)
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	if m != nil {
		return g.showManifest(c.link, m)
	}
	torrent, err := torrents.OfLink(c.link, info)
	if err != nil {
		return err
	}
	return g.showTorrent(torrent)
}

// seek has what describes the content of a link fetched, and tells what it waits for.
func (g *global) seek(ctx context.Context, s *session, link *proto.Link, timeout time.Duration) (*proto.Manifest, []byte, error) {
	p := g.newProgress()
	defer p.clear()
	what := "manifest"
	if !link.Manifest.Defined() {
		what = "info dictionary"
	}
	waiting := "nobody has answered"
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, info, err := s.Describe(limit, link, func(now string) {
		waiting = now
		p.show(textFrame(cmp.Or(link.Name, link.Keys()[0].String()) + ": waiting for the " + what + ": " + now))
	})
	if err != nil && ctx.Err() == nil && limit.Err() != nil {
		return nil, nil, fmt.Errorf("no %s came within %v (%s): is anybody serving the content? --timeout waits longer", what, timeout, waiting)
	}
	return m, info, err
}

func (g *global) showManifest(link *proto.Link, m *proto.Manifest) error {
	d := newDescription(link, m)
	if g.json {
		return format.JSON(g.Out, d)
	}
	return d.print(g.Out)
}

// description is what inspect shows.
type description struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Bytes       int64         `json:"bytes"`
	Pieces      int           `json:"pieces"`
	PieceLength uint32        `json:"piece_length"`
	Trackers    []string      `json:"trackers"`
	Peers       []string      `json:"peers"`
	Coded       int           `json:"coded,omitempty"`
	Strategy    string        `json:"strategy,omitempty"`
	InfoHash    string        `json:"info_hash,omitempty"`
	BTTrackers  []string      `json:"bt_trackers,omitempty"`
	Foreign     []proto.Param `json:"foreign"`
	Entries     []entry       `json:"entries"`
}

// entry is a file, a folder or a symbolic link.
type entry struct {
	Path   string    `json:"path"`
	Kind   string    `json:"kind"`
	Size   int64     `json:"size"`
	Mode   string    `json:"mode"`
	MTime  time.Time `json:"mtime,omitzero"`
	Target string    `json:"target,omitempty"`
}

func newDescription(link *proto.Link, m *proto.Manifest) description {
	d := description{ID: link.Manifest.String(), Name: m.Name, Bytes: m.Length(), Pieces: m.Pieces(), PieceLength: m.PieceLength,
		Coded: link.Coded, Strategy: link.Strategy.String(), Trackers: []string{}, Peers: []string{}, Foreign: append([]proto.Param{}, link.Foreign...), Entries: []entry{}}
	for _, a := range link.Trackers {
		d.Trackers = append(d.Trackers, a.String())
	}
	for _, a := range link.Peers {
		d.Peers = append(d.Peers, a.String())
	}
	if !link.InfoHash.IsZero() {
		d.InfoHash, d.BTTrackers = link.InfoHash.String(), link.Announce
	}
	kinds := map[proto.EntryKind]string{proto.File: "file", proto.Dir: "folder", proto.Symlink: "symlink", proto.Pad: "padding"}
	for _, e := range m.Entries {
		shown := entry{Path: e.Path, Kind: kinds[e.Kind], Size: e.Size, Mode: fmt.Sprintf("%04o", e.Mode), Target: e.Target}
		if e.MTime != proto.NoMTime && e.Kind != proto.Pad {
			shown.MTime = time.Unix(0, e.MTime).UTC()
		}
		d.Entries = append(d.Entries, shown)
	}
	return d
}

func (d description) print(out io.Writer) error {
	w := format.NewText(out)
	w.Line("name      %s", d.Name)
	w.Line("id        %s", d.ID)
	w.Content(d.Bytes, d.Pieces, int64(d.PieceLength))
	if d.Coded > 0 {
		w.Line("coded     %s", coded(d.Coded, d.Strategy))
	}
	w.List("trackers", d.Trackers)
	w.List("peers", d.Peers)
	if d.InfoHash != "" {
		w.Line("info-hash %s", d.InfoHash)
	}
	w.List("announce", d.BTTrackers)
	for i, p := range d.Foreign {
		w.Line("%s%s=%s", format.Label("other", i), p.Key, p.Value)
	}
	w.Line("tree      %s", tally(d.Entries))
	for _, e := range d.Entries {
		if e.Kind == "padding" {
			w.Line("  ---- %9s  (padding: zeros that are in no file)", format.Size(e.Size))
			continue
		}
		text := map[string]string{"folder": "/", "symlink": " -> " + e.Target}[e.Kind]
		w.Line("  %s %9s  %s", e.Mode, format.Size(e.Size), cmp.Or(e.Path, d.Name)+text)
	}
	return w.Flush()
}

// tally counts the entries of each kind.
func tally(entries []entry) string {
	n := map[string]int{}
	for _, e := range entries {
		n[e.Kind]++
	}
	var out []string
	for _, kind := range []string{"file", "folder", "symlink"} {
		if n[kind] > 0 {
			out = append(out, format.Count(n[kind], kind))
		}
	}
	return cmp.Or(strings.Join(out, ", "), "empty")
}

func (g *global) inspectTorrent(path string) error {
	m, err := torrents.Read(path)
	if err != nil {
		return err
	}
	return g.showTorrent(m)
}

func (g *global) showTorrent(m *metainfo.Metainfo) error {
	d := torrents.Describe(m)
	if g.json {
		return format.JSON(g.Out, d)
	}
	return d.Print(g.Out)
}
