package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const exportHelp = `Writes the torrent file of a transfer of this node, for BitTorrent clients.

The content must have been seeded with --torrent, or be fetched as a torrent. The file
has the trackers of the content's link and of --bt-tracker.`

const exportExample = `  mob export "$LINK" -o big.tar.torrent
  mob export big.tar --bt-tracker http://192.0.2.7:6969/announce`

// exportFlags are the flags of export.
type exportFlags struct {
	out   string
	force bool
	set   *pflag.FlagSet
	node  daemon.Flags // btTrackers only
}

func newExport(a *command.App) *cobra.Command {
	var f exportFlags
	return a.Command(command.Spec{
		Use: "export LINK|ID|PATH [-o FILE]", Short: "Write the torrent file of a transfer", Long: exportHelp, Example: exportExample,
		Args: command.Args(1, "LINK|ID|PATH"), Flags: f.add, Run: f.run,
	})
}

func (f *exportFlags) add(fl *pflag.FlagSet) {
	f.set = fl
	fl.StringVarP(&f.out, "output", "o", "", "file to write, or the directory for it (default the content's name and .torrent)")
	fl.BoolVarP(&f.force, "force", "f", false, "replace a file that exists")
	f.node.AddBTTrackers(fl)
}

func (f *exportFlags) run(ctx context.Context, a *command.App, args []string) error {
	if err := command.CheckPath(f.set, "output"); err != nil {
		return err
	}
	if err := daemon.CheckBTTrackers(f.node.BTTrackers); err != nil {
		return command.Usagef("%w", err)
	}
	c, err := a.ParseContent(ctx, args[0])
	if err != nil {
		return err
	}
	s, err := a.Dial(ctx)
	if err != nil {
		return err
	}
	known, err := s.Transfer(ctx, c.Name)
	if err != nil {
		return err
	}
	name := known.Name + ".torrent"
	out := outFile{path: cmp.Or(f.out, "."), flag: "-o", force: f.force}
	if err := out.check(a.Env, name); err != nil {
		return err
	}
	return exportTorrent(ctx, a, s, known.ID, &out, f.node.BTTrackers)
}

// exportTorrent writes the torrent file of the content with the given trackers and the trackers of the link.
func exportTorrent(ctx context.Context, a *command.App, s *control.Client, id string, out *outFile, trackers []string) error {
	info, st, err := s.Export(ctx, id)
	if err != nil {
		return err
	}
	t, err := metainfo.ParseInfo(info)
	if err != nil {
		return err
	}
	link, err := proto.ParseLink(st.Link)
	if err != nil {
		return err
	}
	trackers = append(trackers, link.Announce...)
	m := &metainfo.Metainfo{Torrent: t, CreatedBy: "mob"}
	for i, url := range trackers {
		if !slices.Contains(trackers[:i], url) {
			m.Trackers = append(m.Trackers, []string{url})
		}
	}
	if len(m.Trackers) == 0 {
		a.Note("note: the torrent file names no tracker: give --bt-tracker, or add peers to the clients by hand")
	}
	b, err := m.Encode()
	if err != nil {
		return err
	}
	return out.write(a.Env, b, st.Root)
}

// writeTorrent writes the torrent file of a seed, and notes entries that BitTorrent clients do not get. It does
// nothing without --torrent.
func writeTorrent(ctx context.Context, a *command.App, s *daemon.Session, st peer.Status, f *seedFlags) error {
	if !f.Torrent {
		return nil
	}
	link, err := proto.ParseLink(st.Link)
	if err != nil {
		return err
	}
	m, _, err := s.Describe(ctx, link, func(string) {})
	if err != nil {
		return err
	}
	if m == nil {
		m = new(proto.Manifest) // the content is verified by its torrent
	}
	if links, directories := metainfo.Unsupported(m); links+directories > 0 {
		a.Note("note: BitTorrent clients do not get %s and %s", term.Plural(links, "symbolic link"), term.Plural(directories, "empty directory"))
	}
	if len(link.Announce) == 0 {
		a.Note("note: the link names no tracker for BitTorrent clients: give --bt-tracker")
	}
	if f.torrentFile.path == "" {
		return nil
	}
	if err := exportTorrent(ctx, a, s.Client, st.ID, &f.torrentFile, nil); err != nil {
		return fmt.Errorf("cannot write the torrent file: %w", err)
	}
	return nil
}
