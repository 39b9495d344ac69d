package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/proto"
)

const inspectHelp = `Describes the content of a link: name, size, pieces, trackers, peers and files.

The manifest is fetched from other nodes, without the content. The argument may also be
a transfer of this node, the file of a manifest, or a torrent file, which is checked like
a manifest from an unauthenticated peer.`

const inspectExample = `  mob inspect "$LINK"
  mob inspect big.tar --json
  mob inspect big.tar.torrent
  mob inspect "$LINK" --timeout 5m`

func newInspect(a *command.App) *cobra.Command {
	var f inspectFlags
	return a.Command(command.Spec{
		Use: "inspect LINK|ID|PATH|FILE", Short: "Describe the content of a link", Long: inspectHelp, Example: inspectExample,
		Args: command.Args(1, "LINK|ID|PATH|FILE"), Flags: f.add, JSON: true, Run: f.run,
	})
}

// inspectFlags are the flags of inspect.
type inspectFlags struct {
	timeout time.Duration
	network daemon.NetworkFlags
}

func (f *inspectFlags) add(fl *pflag.FlagSet) {
	f.network.Add(fl)
	fl.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait for the manifest")
}

func (f *inspectFlags) run(ctx context.Context, a *command.App, args []string) error {
	if f.timeout <= 0 {
		return command.Usagef("--timeout %v: must be positive", f.timeout)
	}
	d, err := f.describe(ctx, a, args[0])
	if err != nil {
		return err
	}
	return a.Print(d, d.print)
}

// described is the description of content.
type described interface{ print(term.TextWriter) }

// describe describes the content that an argument names.
func (f *inspectFlags) describe(ctx context.Context, a *command.App, text string) (_ described, err error) {
	if daemon.IsTorrent(text) {
		m, err := daemon.ReadTorrent(text)
		if err != nil {
			return nil, err
		}
		return newTorrentDescription(m), nil
	}
	c, err := a.ParseContent(ctx, text)
	if err != nil {
		return nil, err
	}
	if c.Link == nil {
		if b, err := command.ReadFile(c.Name, "manifest", proto.MaxManifest); err == nil {
			if m, err := proto.DecodeManifest(b); err == nil {
				return newDescription(&proto.Link{Manifest: proto.ManifestCID(b)}, m), nil
			}
		}
	}
	s, err := daemon.DialOrRunTemporary(ctx, a, &c, &f.network)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, info, err := fetchDescription(ctx, a, s.Client, c.Link, f.timeout)
	switch {
	case err != nil:
		return nil, err
	case m != nil:
		return newDescription(c.Link, m), nil
	}
	t, err := metainfo.ParseInfo(info)
	if err != nil {
		return nil, err
	}
	return newTorrentDescription(&metainfo.Metainfo{Torrent: t, Trackers: [][]string{c.Link.Announce}}), nil
}

// fetchDescription fetches the manifest of a link, or its info dictionary if it names no
// manifest, and shows what it waits for.
func fetchDescription(ctx context.Context, a *command.App, s *control.Client, link *proto.Link, timeout time.Duration) (
	m *proto.Manifest, info []byte, err error,
) {
	p := a.Screen(false)
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
