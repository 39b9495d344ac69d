package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
)

const exportHelp = `Writes a torrent file of a content of this node, for BitTorrent clients.

The content must be whole here. Unless it was seeded with --torrent it is hashed for
this, once. The trackers in the file are those of the content's link and of --bt-tracker.
Only "mob seed PATH --torrent" offers a content to such clients.`

const exportExample = `  mob export "$LINK" -o big.tar.torrent
  mob export big.tar --bt-tracker http://192.0.2.7:6969/announce`

// exportFlags are the flags of export.
type exportFlags struct {
	out   string
	quiet bool
	node  nodeFlags // for the trackers alone
}

func newExport(g *global) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use: "export LINK|ID|PATH [-o FILE]", Short: "Write a torrent file of a content", Long: exportHelp, Example: exportExample,
		Args: args(1, "LINK|ID|PATH"),
		RunE: func(cmd *cobra.Command, given []string) error { return g.export(cmd, given[0], &f) },
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "file to write; the content's name and .torrent by default")
	f.node.btTrackerFlag(cmd.Flags())
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

func (g *global) export(cmd *cobra.Command, text string, f *exportFlags) error {
	for _, url := range f.node.btTrackers {
		if err := proto.CheckAnnounce(url); err != nil {
			return wrong(cmd, "--bt-tracker: %w", err)
		}
	}
	c, err := parseContent(text)
	if err != nil {
		return err
	}
	s, err := g.dial(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Client.Close()
	if c.link == nil {
		if err := c.find(cmd.Context(), s); err != nil {
			return err
		}
	}
	t, st, err := g.torrent(cmd.Context(), s, c.link.Keys()[0].String(), f.quiet)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = st.Name + ".torrent"
	}
	return g.saveTorrent(f.out, t, st, f.node.btTrackers)
}

// torrent gets the torrent of a content of the daemon, and shows how far its hashing
// is.
func (g *global) torrent(ctx context.Context, s *session, id string, quiet bool) (*metainfo.Torrent, peer.Status, error) {
	p := g.newProgress()
	defer p.clear()
	began := time.Now()
	info, st, err := s.Export(ctx, control.ExportRequest{Name: id}, func(done, total int64) {
		if !quiet && total > 0 {
			p.show(hashFrame{id, done, total, time.Since(began)})
		}
	})
	if err != nil {
		return nil, st, err
	}
	t, err := metainfo.ParseInfo(info)
	return t, st, err
}

// saveTorrent writes a torrent file. more are trackers beside those of the content's
// link.
func (g *global) saveTorrent(path string, t *metainfo.Torrent, st peer.Status, more []string) error {
	link, err := proto.ParseLink(st.Link)
	if err != nil {
		return err
	}
	m := &metainfo.Metainfo{Torrent: t, CreatedBy: "mob"}
	known := map[string]bool{}
	for _, url := range append(more, link.Announce...) {
		if !known[url] {
			known[url] = true
			m.Trackers = append(m.Trackers, []string{url})
		}
	}
	if len(m.Trackers) == 0 {
		g.note("note: the torrent file names no tracker: give --bt-tracker, or clients must be told of peers")
	}
	b, err := m.Encode()
	if err != nil {
		return err
	}
	return datadir.WriteFile(path, b, 0o644)
}

// writeTorrent does what seed owes to BitTorrent clients besides the link: it writes
// the torrent file, and tells what they do not get.
func (g *global) writeTorrent(ctx context.Context, s *session, st peer.Status, f *seedFlags) error {
	link, err := proto.ParseLink(st.Link)
	if err != nil || !f.torrent && f.file == "" {
		return err
	}
	m, _, err := s.Describe(ctx, link, func(string) {})
	if err != nil {
		return err
	}
	if links, folders := metainfo.LeftOut(m); links+folders > 0 {
		g.note("note: BitTorrent clients do not get %s and %s", format.Count(links, "symbolic link"), format.Count(folders, "empty folder"))
	}
	if len(link.Announce) == 0 {
		g.note("note: the link names no tracker for BitTorrent clients: give --bt-tracker")
	}
	if f.file == "" {
		return nil
	}
	t, st, err := g.torrent(ctx, s, st.ID, f.quiet)
	if err != nil {
		return err
	}
	if err := g.saveTorrent(f.file, t, st, nil); err != nil {
		return fmt.Errorf("cannot write the torrent file: %w", err)
	}
	return nil
}
