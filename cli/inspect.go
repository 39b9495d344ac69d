package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/proto"
)

const inspectHelp = `Shows what a link leads to: name, size, pieces, trackers, peers and files.

These are listed in the manifest, which is fetched from other nodes, without the
content. The argument may also be a content of this node, the file of a manifest, or
a torrent file, which is checked like one from a stranger.`

const inspectExample = `  mob inspect "$LINK"
  mob inspect big.tar --json
  mob inspect big.tar.torrent
  mob inspect "$LINK" --timeout 5m`

func newInspect(g *command.App) *cobra.Command {
	var timeout time.Duration
	var network networkFlags
	cmd := &cobra.Command{
		Use:     "inspect LINK|ID|PATH|FILE",
		Short:   "Show what a link leads to",
		Long:    inspectHelp,
		Example: inspectExample,
		Args:    command.Args(1, "LINK|ID|PATH|FILE"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return runInspect(cmd.Context(), g, given[0], &network, timeout)
		},
	}
	network.add(cmd.Flags())
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait for the manifest")
	g.JSONFlag(cmd)
	return cmd
}

func runInspect(ctx context.Context, g *command.App, text string, n *networkFlags, timeout time.Duration) error {
	if isTorrentFile(text) {
		m, err := readTorrentFile(text)
		if err != nil {
			return err
		}
		return showTorrent(g, m)
	}
	c, err := parseContent(g, text)
	if err != nil {
		return err
	}
	if c.link == nil {
		if m, id, err := readManifest(c.name); err == nil {
			return showManifest(g, &proto.Link{Manifest: id}, m)
		}
	}
	s, err := dialOrRunTemporary(ctx, g, c, n)
	if err != nil {
		return err
	}
	if c.link == nil {
		if err := c.find(ctx, s); err != nil {
			return errors.Join(err, s.close())
		}
	}
	m, info, err := describe(ctx, g, s, c.link, timeout)
	err = errors.Join(err, s.close())
	if err != nil {
		return err
	}
	if m != nil {
		return showManifest(g, c.link, m)
	}
	t, err := metainfo.ParseInfo(info)
	if err != nil {
		return err
	}
	return showTorrent(g, &metainfo.Metainfo{Torrent: t, Trackers: [][]string{c.link.Announce}})
}

// describe fetches the manifest of a link, or its info dictionary if it names no
// manifest, and shows what it waits for.
func describe(ctx context.Context, g *command.App, s *session, link *proto.Link, timeout time.Duration) (
	m *proto.Manifest, info []byte, err error,
) {
	p := g.Screen(false)
	defer p.Clear()
	what := "manifest"
	if !link.Manifest.Defined() {
		what = "info dictionary"
	}
	waiting := "no node has answered"
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, info, err = s.Describe(limited, link, func(now string) {
		waiting = now
		p.Show(term.Text(cmp.Or(link.Name, link.Keys()[0].String()) + ": waiting for the " + what + ": " + now))
	})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("no %s within %v (%s): does any node serve the content? --timeout waits longer", what, timeout, waiting)
	}
	return m, info, err
}

// readManifest reads the file of a manifest.
func readManifest(path string) (*proto.Manifest, cid.Cid, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, cid.Undef, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > proto.MaxManifest {
		return nil, cid.Undef, fmt.Errorf("%s is not a manifest", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, cid.Undef, err
	}
	m, err := proto.DecodeManifest(b)
	return m, proto.ManifestCID(b), err
}

func showManifest(g *command.App, link *proto.Link, m *proto.Manifest) error {
	d := newDescription(link, m)
	if g.JSON {
		return command.WriteJSON(g.Out, d)
	}
	return d.print(g.Out)
}

func showTorrent(g *command.App, m *metainfo.Metainfo) error {
	d := describeTorrent(m)
	if g.JSON {
		return command.WriteJSON(g.Out, d)
	}
	return d.print(g.Out)
}
