package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/address"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/cli/torrents"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const getHelp = `Fetches the content of a link or a torrent file, verifies every piece, and returns
when it is whole.

LINK may be a magnet link of BitTorrent's, or the path of a torrent file: nodes that
fetch the same torrent share it as a mob. They need a tracker of mob in common, which
--tracker names, and one of them --bt-listen, to fetch from BitTorrent clients. The
first that is whole makes the content one of mob's.

PATH is the file or folder to make, not its parent; the link's name in the current
folder by default. Nothing may be there yet: --reuse takes over what is, say an
older copy, and fetches only what differs.

The daemon of --data does the work and serves the content on. When there is none,
a node runs within the command, and ends with it; --stay goes on serving.

Ctrl-C stops the transfer and keeps what is there: the same command goes on with
it. To leave the transfer to the daemon, kill the command instead.`

const getExample = `  mob get "$LINK" -o big.tar
  mob get "$LINK" --cluster lyon --stay
  mob get big.iso.torrent --bt-listen 0.0.0.0:6881 --tracker "$TRACKER"
  mob get "$LINK" -o models --reuse --json`

// getFlags are the flags of get.
type getFlags struct {
	node  nodeFlags
	out   string
	reuse bool
	stay  bool
	quiet bool
}

func newGet(g *global) *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use: "get LINK|FILE [-o PATH]", Short: "Fetch the content of a link or torrent file", Long: getHelp, Example: getExample,
		Args: args(1, "LINK|FILE"),
		RunE: func(cmd *cobra.Command, given []string) error { return g.get(cmd, given[0], &f) },
	}
	f.node.flags(g, cmd)
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "file or folder to make")
	cmd.Flags().BoolVar(&f.reuse, "reuse", false, "take over what is at PATH")
	cmd.Flags().BoolVar(&f.stay, "stay", false, "go on serving until Ctrl-C")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	g.jsonFlag(cmd)
	return cmd
}

func (g *global) get(cmd *cobra.Command, text string, f *getFlags) error {
	link, info, err := f.wanted(text)
	if err != nil {
		return err
	}
	path, err := destination(f.out, link)
	if err != nil {
		return err
	}
	s, err := g.dialOrRun(cmd, &f.node)
	if err != nil {
		return err
	}
	st, err := g.fetch(cmd.Context(), s, control.GetRequest{Link: link.String(), Path: path, Reuse: f.reuse, Torrent: info}, f.quiet)
	if err != nil {
		return errors.Join(hint(err, path, link), s.close())
	}
	if err := g.printReceipt(st); err != nil {
		return errors.Join(err, s.close())
	}
	if s.own == nil {
		return nil
	}
	if f.stay {
		g.note("serving %s until Ctrl-C", st.Name)
		<-cmd.Context().Done()
		return errors.Join(cmd.Context().Err(), s.close())
	}
	g.note("serving ends with this command: use --stay, or run mobd, to go on")
	return s.closeLater(cmd.Context(), g)
}

// wanted is the link of what is to be fetched, with the trackers that are given beside
// it, and of a torrent file the info dictionary too.
func (f *getFlags) wanted(text string) (link *proto.Link, info []byte, err error) {
	trackers, err := address.ParseTrackers(f.node.trackers)
	if err != nil {
		return nil, nil, err
	}
	if fi, err := os.Stat(text); err == nil && fi.Mode().IsRegular() {
		m, err := torrents.Read(text)
		if err != nil {
			return nil, nil, err
		}
		link, info = torrents.Link(m), m.Info
	} else if link, err = proto.ParseLink(text); err != nil {
		if strings.HasSuffix(text, ".torrent") {
			return nil, nil, fmt.Errorf("no file is at %s", text)
		}
		return nil, nil, err
	}
	for _, t := range trackers {
		if !slices.ContainsFunc(link.Trackers, t.Equal) {
			link.Trackers = append(link.Trackers, t)
		}
	}
	return link, info, nil
}

// destination is where to put the content.
func destination(out string, link *proto.Link) (string, error) {
	if out == "" && link.Name == "" {
		return "", errors.New("the link has no name: say where to put the content with -o PATH")
	}
	if out == "" {
		out = link.Name // ParseLink has seen to it that this is one path element
	}
	return filepath.Abs(out)
}

// hint adds what to do when something is at the destination.
func hint(err error, path string, link *proto.Link) error {
	var e *control.Error
	if !errors.As(err, &e) || e.Code != control.CodeExists {
		return err
	}
	other := "another path"
	if fi, err := os.Stat(path); err == nil && fi.IsDir() && link.Name != "" {
		other = "one in it, such as -o " + filepath.Join(path, link.Name)
	}
	return fmt.Errorf("%s exists already: choose %s, or take over what is there with --reuse", path, other)
}

// fetch has a content fetched and shows how it goes. An interrupt stops the
// transfer, not just the command.
func (g *global) fetch(ctx context.Context, s *session, req control.GetRequest, quiet bool) (peer.Status, error) {
	p := g.newProgress()
	defer p.clear()
	st, err := s.Get(ctx, req, func(st peer.Status) {
		if !quiet {
			p.show(getFrame{st})
		}
	})
	if err == nil {
		return st, nil
	}
	p.clear()
	if ctx.Err() == nil {
		return st, err
	}
	if err := apart(ctx, func(ctx context.Context) error { return s.Stop(ctx, req.Link) }); err != nil {
		return st, &interruptedError{fmt.Sprintf("interrupted, but the transfer could not be stopped: %v", err)}
	}
	what := "nothing was fetched yet"
	if st.Length >= 0 {
		what = fmt.Sprintf("%s of %s are kept", format.Size(st.Have), format.Size(st.Length))
	}
	return st, &interruptedError{"stopped: " + what + "; run the same command to go on"}
}
