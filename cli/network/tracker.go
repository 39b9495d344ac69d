package network

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/metrics"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/shortname"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/tracker"
)

const trackerHelp = `Runs a tracker, which introduces the nodes of a swarm to each other. It holds no
content, and transfers under way continue without it.

It prints its address on standard output, for --tracker of the other commands. The
address has the tracker's id, which is kept in the data folder: links stay valid as
long as that folder does.

With --bt-listen it also serves stock BitTorrent clients, over HTTP, and prints their
announce URLs on standard error. --torrents limits these clients to a list of
info-hashes: 40 hexadecimal digits on each line.

With --network only members of that network are introduced, see "mob network --help":
a certificate needs the role track. BitTorrent clients are outside of it.

SIGHUP reloads the list of torrents, --certificate and --revoked, and does not end the
tracker.`

const trackerExample = `  mob tracker --listen /ip4/0.0.0.0/tcp/4000
  mob tracker --listen /ip4/192.0.2.7/tcp/4000 --data /var/lib/mob-tracker
  mob tracker --listen /ip4/0.0.0.0/tcp/4000 --bt-listen 0.0.0.0:6969 --torrents list`

func newTracker(a *command.App) *cobra.Command {
	var listen []string
	var bt btTracker
	var page daemon.WebFlags
	var network daemon.NetworkFlags
	cmd := &cobra.Command{
		Use:     "tracker --listen MULTIADDR",
		Short:   "Run a tracker",
		Long:    trackerHelp,
		Example: trackerExample,
		Args:    command.Args(0),
		// It serves until it is told to stop, so SIGHUP does not end it.
		PersistentPreRun: func(*cobra.Command, []string) {},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("log-level") {
				a.LogLevel = "info"
			}
			return runTracker(a, cmd, listen, &bt, &page, &network)
		},
	}
	cmd.Flags().StringArrayVar(&listen, "listen", nil, "address to listen on; repeatable")
	bt.flags(cmd)
	page.Add(cmd.Flags())
	network.Add(cmd.Flags())
	return cmd
}

func runTracker(
	a *command.App, cmd *cobra.Command, listen []string, bt *btTracker, page *daemon.WebFlags, n *daemon.NetworkFlags,
) error {
	if len(listen) == 0 {
		return command.Usagef(cmd, "--listen is missing: give an address such as /ip4/0.0.0.0/tcp/4000")
	}
	addrs, err := daemon.ParseListen(listen)
	if err != nil {
		return command.Usagef(cmd, "%w", err)
	}
	if err := bt.check(cmd); err != nil {
		return err
	}
	network, err := n.Config()
	if err == nil {
		err = daemon.CheckRoles(network, membership.Track)
	}
	if err != nil {
		return command.Usagef(cmd, "%w", err)
	}
	log, _, err := command.NewLog(a.Err, a.LogLevel, false)
	if err != nil {
		return command.Usagef(cmd, "%w", err)
	}
	dir, err := trackerFolder(a.Data)
	if err != nil {
		return err
	}
	site, err := page.Open(a.Env, dir, log)
	if err != nil {
		return err
	}
	defer site.Stop()
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
	server := tracker.New(h, tracker.Config{Log: log})
	defer server.Close()
	stop, err := bt.start(a.Env, tracker.Config{Log: log})
	if err != nil {
		return err
	}
	defer stop()
	server.SetAnnounceURLs(bt.urls)
	alive := daemon.NewHealth(func(context.Context) error {
		server.Stats()
		return nil
	})
	site.Start(func(s *web.Server) {
		registerFleet(s, h, server, names)
		alive.Register(s, metrics.NewTracker(server.Stats, bt.stats, command.Version()))
	})
	systemd := daemon.NewNotifier(a.Getenv, log, alive)
	daemon.LogNetwork(log, member.Get())
	defer command.OnHangup(func() {
		defer systemd.Reloading()()
		bt.hangup(log)
		reloadMembership(n, log, member.Get())
	})()
	if _, err := fmt.Fprintln(a.Out, daemon.OwnAddr(h, addrs[0])); err != nil {
		return err
	}
	systemd.Ready()
	<-cmd.Context().Done()
	log.Info("shutting down")
	systemd.Stopping()
	return nil
}

// trackerFolder makes the folder for a tracker's key. A node with the same data
// folder keeps its key elsewhere: the two must not have the same identity.
func trackerFolder(data string) (string, error) {
	dir, err := command.DataDir(data)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "tracker")
	return dir, datadir.Create(dir)
}
