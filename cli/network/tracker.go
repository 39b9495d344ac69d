package network

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/metrics"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/shortname"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/tracker"
)

const trackerHelp = `Runs a tracker, which introduces the nodes of a swarm to each other. It stores no
files, and transfers in progress continue without it.

It prints its address on standard output, for --tracker of the other commands. The
address has the tracker's id, which is kept in the data directory: links stay valid as
long as that directory does.

With --bt-listen it also serves stock BitTorrent clients, over HTTP, and prints their
announce URLs on standard error. --torrents limits these clients to a list of
info-hashes: 40 or 64 hexadecimal digits on each line.

With --network only members of that network are introduced, see "mob network --help":
a certificate needs the role track. BitTorrent clients are outside of it.

SIGHUP reloads the list of torrents, --certificate and --revoked, and does not end the
tracker.`

const trackerExample = `  mob tracker --listen /ip4/0.0.0.0/tcp/4000
  mob tracker --listen /ip4/192.0.2.7/tcp/4000 --data /var/lib/mob-tracker
  mob tracker --listen /ip4/0.0.0.0/tcp/4000 --bt-listen 0.0.0.0:6969 --torrents list`

func newTracker(a *command.App) *cobra.Command {
	var f trackerFlags
	cmd := a.Command(command.Spec{
		Use: "tracker --listen MULTIADDR", Short: "Run a tracker", Long: trackerHelp, Example: trackerExample,
		Flags: f.add, Run: f.run,
	})
	cmd.PersistentPreRun = func(*cobra.Command, []string) {} // SIGHUP reloads
	return cmd
}

// trackerFlags are the flags of tracker.
type trackerFlags struct {
	listen  []string
	bt      btTracker
	page    daemon.WebFlags
	network daemon.NetworkFlags
	set     *pflag.FlagSet
}

func (f *trackerFlags) add(fl *pflag.FlagSet) {
	f.set = fl
	fl.StringArrayVar(&f.listen, "listen", nil, "address to listen on; repeatable")
	f.bt.flags(fl)
	f.page.Add(fl)
	f.network.Add(fl)
}

func (f *trackerFlags) run(ctx context.Context, a *command.App, _ []string) error {
	if !f.set.Changed("log-level") {
		a.LogLevel = "info"
	}
	if len(f.listen) == 0 {
		return command.Usagef("--listen is missing: give an address such as /ip4/0.0.0.0/tcp/4000")
	}
	addrs, err := daemon.ParseListen(f.listen)
	if err != nil {
		return command.Usagef("%w", err)
	}
	if err := f.bt.check(); err != nil {
		return err
	}
	network, err := f.network.Config(membership.Track)
	if err != nil {
		return command.Usagef("%w", err)
	}
	log, _, err := command.NewLog(a.Err, a.LogLevel, false)
	if err != nil {
		return command.Usagef("%w", err)
	}
	dir, err := trackerDir(a.Data)
	if err != nil {
		return err
	}
	site, err := f.page.Open(a.Env, dir, log)
	if err != nil {
		return err
	}
	defer site.Close()
	if err := datadir.Create(dir); err != nil {
		return err
	}
	key, err := datadir.LoadKey(dir)
	if err != nil {
		return err
	}
	names, err := shortname.New(key)
	if err != nil {
		return err
	}
	log = names.Logger(log)
	member, err := trackerMembership(network, key, dir, log)
	if err != nil {
		return err
	}
	h, err := transport.NewHost(key, addrs, nil, member)
	if err != nil {
		return err
	}
	defer h.Close()
	server := tracker.New(h, log)
	defer server.Close()
	stop, err := f.bt.start(a.Env, log)
	if err != nil {
		return err
	}
	defer stop()
	server.SetAnnounceURLs(f.bt.urls)
	alive := daemon.NewHealth(func(context.Context) error {
		server.Stats()
		return nil
	})
	site.Start(func(s *web.Server) {
		registerFleet(s, h, server, names)
		alive.Register(s, metrics.NewTracker(server.Stats, f.bt.stats, command.Version()))
	})
	systemd := daemon.NewNotifier(a.Getenv, log, alive)
	daemon.LogNetwork(log, member)
	defer command.OnHangup(func() {
		defer systemd.Reloading()()
		switch {
		case f.bt.torrents != "":
			f.bt.hangup(log)
		case network == nil:
			log.Info("SIGHUP ignored: there is neither a list of torrents nor a network")
		}
		reloadMembership(&f.network, log, member)
	})()
	return systemd.Run(ctx, a.Out, daemon.OwnAddr(h, addrs[0]))
}

// trackerDir returns the directory for a tracker's key. A node with the same data
// directory keeps its key elsewhere: the two must not have the same identity.
func trackerDir(data string) (string, error) {
	dir, err := command.DataDir(data)
	return filepath.Join(dir, "tracker"), err
}

// trackerCluster is the cluster in the certificate of a tracker that signs its own: it is in none.
const trackerCluster = "tracker"

// trackerMembership makes a tracker with its directory a member of a network, nil for none.
func trackerMembership(
	cfg *membership.Config, key crypto.PrivKey, dir string, log *slog.Logger,
) (*membership.Member, error) {
	if cfg == nil {
		return nil, nil
	}
	if cfg.Grant == nil {
		cfg.Cluster = trackerCluster
	}
	cfg.Log = log
	return peer.NewMembership(*cfg, key, dir)
}

// reloadMembership reads the certificate and the list of a tracker again.
func reloadMembership(n *daemon.NetworkFlags, log *slog.Logger, m *membership.Member) {
	switch changed, err := n.Reload(m, membership.Track); {
	case err != nil:
		log.Error("network not read again: the old values stay", "error", err)
	case m != nil:
		log.Info("network read again", "now", cmp.Or(changed, "as before"))
	}
}
