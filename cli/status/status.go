package status

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
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

func (f *statusFlags) run(ctx context.Context, a *command.App, args []string) error {
	ask, end, err := newReporter(ctx, a, args, &f.network)
	if err != nil {
		return err
	}
	defer end()
	if f.watch {
		return watch(ctx, a, ask)
	}
	r, err := ask()
	if err != nil {
		return err
	}
	return a.Print(r, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(r.lines(), "\n")+"\n")
		return err
	})
}

// newReporter returns a function that makes a report. end releases what it needs.
func newReporter(
	ctx context.Context, a *command.App, given []string, n *daemon.NetworkFlags,
) (ask func() (report, error), end func(), err error) {
	var c command.Content
	if len(given) > 0 {
		c, err = a.ParseContent(given[0])
		if err != nil {
			return nil, nil, err
		}
	}
	s, err := a.Dial(ctx)
	var none *control.NoDaemonError
	if errors.As(err, &none) && c.Link != nil {
		return newTrackerReporter(ctx, a, c.Link, n)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(given) == 0 {
		return func() (report, error) { return reportAll(ctx, s) }, s.Close, nil
	}
	return func() (report, error) { return reportOne(ctx, s, &c) }, s.Close, nil
}

// reportAll reports all transfers of the node.
func reportAll(ctx context.Context, s *control.Client) (report, error) {
	list, err := s.Transfers(ctx)
	r := report{Node: &s.Info, Transfers: list}
	if l, err := s.Limits(ctx); err == nil { // a daemon of an older version has none
		r.Limits = &l
	}
	return r, err
}

// reportOne reports a single transfer, also of content that this node does not have.
func reportOne(ctx context.Context, s *control.Client, c *command.Content) (report, error) {
	r := report{Node: &s.Info, Transfers: []peer.Status{}, detailed: true}
	st, err := s.Transfer(ctx, c.Name)
	switch {
	case err == nil:
		r.Transfers = append(r.Transfers, st)
		if c.Link == nil {
			c.Link, err = proto.ParseLink(st.Link)
		}
	case errors.Is(err, peer.ErrUnknownTransfer) && c.Link != nil:
		err = nil
	}
	if err != nil {
		return r, err
	}
	r.Fleet, err = s.Fleet(ctx, c.Link)
	if err != nil {
		r.Fleet, r.FleetError = nil, err.Error()
	}
	return r, ctx.Err()
}

// newTrackerReporter is newReporter without a daemon: it asks the trackers of a link.
func newTrackerReporter(
	ctx context.Context, a *command.App, link *proto.Link, n *daemon.NetworkFlags,
) (ask func() (report, error), end func(), err error) {
	if len(link.Trackers) == 0 {
		return nil, nil, control.ErrNoTracker
	}
	h, err := newClientHost(a, n)
	if err != nil {
		return nil, nil, err
	}
	ask = func() (report, error) {
		f, err := control.AskFleet(ctx, h, link)
		return report{Transfers: []peer.Status{}, Fleet: f, detailed: true}, err
	}
	return ask, func() { h.Close() }, nil
}

// newClientHost returns a host that listens nowhere. It has a new identity, or with a certificate
// the identity of the data directory.
func newClientHost(a *command.App, n *daemon.NetworkFlags) (libhost.Host, error) {
	cfg, err := n.Config()
	if err != nil {
		return nil, err
	}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil || cfg == nil {
		return transport.NewHost(key, nil, nil, nil)
	}
	cfg.Cluster = "default"
	if cfg.Grant != nil {
		dir, err := command.DataDir(a.Data)
		if err != nil {
			return nil, err
		}
		if key, err = datadir.LoadKey(dir); err != nil {
			return nil, err
		}
		cfg.Cluster = cfg.Grant.Certificate.Cluster
	}
	if cfg.Self, err = libpeer.IDFromPrivateKey(key); err != nil {
		return nil, err
	}
	m, err := membership.New(*cfg)
	if err != nil {
		return nil, err
	}
	return transport.NewHost(key, nil, nil, &transport.Membership{Member: m})
}
