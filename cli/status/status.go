package status

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

const statusHelp = `Shows the transfers of this node: rates and bytes over WAN and LAN, the reason why a
transfer waits, damaged pieces, and whether no member of the cluster can be reached.

With a link, a content id or a path it shows one transfer only, with its peers, and the
progress of all nodes, as the trackers report it. A link needs no daemon.`

const statusExample = `  mob status
  mob status big.tar --watch
  mob status "$LINK" --json`

// watchEvery is the time between two reports of --watch.
const watchEvery = time.Second

func newStatus(a *command.App) *cobra.Command {
	var f statusFlags
	return a.Command(command.Spec{
		Use: "status [LINK|ID|PATH]", Short: "Show transfers and their traffic", Long: statusHelp, Example: statusExample,
		Args: command.Args(0, "LINK|ID|PATH"), Flags: f.add, JSON: true, Run: f.run,
	})
}

// statusFlags are the flags of status.
type statusFlags struct {
	watch   bool
	network daemon.NetworkFlags
}

func (f *statusFlags) add(fl *pflag.FlagSet) {
	f.network.Add(fl)
	fl.BoolVarP(&f.watch, "watch", "w", false, "repeat until Ctrl-C")
}

func (f *statusFlags) run(ctx context.Context, a *command.App, args []string) (err error) {
	var c command.Content
	if len(args) > 0 {
		if c, err = a.ParseContent(ctx, args[0]); err != nil {
			return err
		}
	}
	s, err := daemon.DialOrRunTemporary(ctx, a, &c, &f.network)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ask := func() (report, error) { return reportOne(ctx, s, c) }
	if len(args) == 0 {
		ask = func() (report, error) { return reportAll(ctx, s.Client) }
	}
	if f.watch {
		return watch(ctx, a, ask)
	}
	r, err := ask()
	if err != nil {
		return err
	}
	return a.Print(r, r.print)
}

// reportAll reports all transfers of the node.
func reportAll(ctx context.Context, s *control.Client) (report, error) {
	list, err := s.Transfers(ctx)
	r := report{Node: &s.Info, Transfers: list}
	if l, err := s.Limits(ctx); err == nil { // a daemon of an older version has none
		r.Limits = &l
	}
	r.Feeds, _ = s.Feeds(ctx) // nor these
	return r, err
}

// reportOne reports a single transfer, also of content that this node does not have. A node that the command runs only
// asks the trackers.
func reportOne(ctx context.Context, s *daemon.Session, c command.Content) (report, error) {
	r := report{Transfers: []peer.Status{}, detailed: true}
	if s.Own == nil {
		r.Node = &s.Info
	}
	st, err := s.Transfer(ctx, c.Name)
	switch {
	case err == nil:
		r.Transfers = append(r.Transfers, st)
	case !errors.Is(err, peer.ErrUnknownTransfer):
		return r, err
	}
	fleet, err := s.Fleet(ctx, c.Link.String())
	switch {
	case err == nil:
		r.Fleet = &fleet
	case s.Own != nil:
		return r, err
	default:
		r.FleetError = err.Error()
	}
	return r, ctx.Err()
}

// watch reports until it is interrupted: over the last report on a terminal, one
// report after the other elsewhere, one per line with --json.
func watch(ctx context.Context, a *command.App, ask func() (report, error)) error {
	p := term.New(a.Out, a.Getenv) // the report is the result of the command
	for {
		r, err := ask()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		switch {
		case a.JSON:
			err = command.WriteJSONLine(a.Out, r)
		case p.Draw(r):
		default:
			w := term.NewTextWriter(a.Out)
			r.print(w)
			w.Line("")
			err = w.Flush()
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
