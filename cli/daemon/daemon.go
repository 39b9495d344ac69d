package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/tracker"
)

// shutdownGrace is the time for clients to read the last event of their stream at a shutdown.
const shutdownGrace = 2 * time.Second

// noticeable is the time until a command explains why it has not exited.
const noticeable = 500 * time.Millisecond

// Daemon is a node with its control socket.
type Daemon struct {
	node   *peer.Node
	feeds  *feed.Feeds
	limits context.CancelFunc // ends their policy
	bt     *bittorrent.Server // nil without --bt-listen
	server *control.Server
	socket net.Listener
	served chan error // the result of Serve
	health *Health
}

// start starts a daemon, after n.config. If byCommand is set, it ends with the command that runs it.
func start(n *Flags, byCommand bool) (_ *Daemon, err error) {
	cfg := n.Config
	limiting, cancel := context.WithCancel(context.Background())
	d := &Daemon{limits: cancel, served: make(chan error, 1)}
	cfg.Limits, _ = n.policy.InForce(time.Now())
	cfg.Finder, cfg.Torrents, cfg.Umask = Finder(cfg.Log), metainfo.Codec{}, command.ContentUmask()
	served := control.Config{Data: cfg.Data, BTTrackers: n.BTTrackers, Version: command.Version(), Limits: n.policy, Command: byCommand}
	if n.bittorrent != nil {
		d.bt, err = bittorrent.Listen(*n.bittorrent)
		if err != nil {
			return nil, errors.Join(err, d.closeNode())
		}
		cfg.AttachExternal, cfg.Describe, cfg.ClientsProblem = d.bt.Attach, d.bt.Describe, d.bt.Problem
		at := d.bt.Addr().(*net.TCPAddr).AddrPort()
		served.BTPeers = externalAddrs(netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	}
	d.node, err = peer.Start(cfg)
	if e, ok := errors.AsType[*fs.PathError](err); ok && (errors.Is(e, fs.ErrPermission) || errors.Is(e, syscall.EROFS)) {
		err = fmt.Errorf("%w: choose another --data, or set MOB_DATA", err)
	}
	if err != nil {
		return nil, errors.Join(err, d.closeNode())
	}
	if d.feeds, err = feed.Open(d.node, cfg.Data, runVersion, cfg.Log); err != nil {
		return nil, errors.Join(err, d.closeNode())
	}
	served.Feeds = d.feeds
	go n.policy.Run(limiting, d.node.SetLimits)
	// The node holds the lock of the directory, so an existing socket is stale.
	d.socket, err = control.Listen(cfg.Data, n.socketGroup)
	if err != nil {
		return nil, errors.Join(err, d.closeNode())
	}
	d.health = NewHealth(d.node.Probe)
	served.Node = d.node
	d.server = control.NewServer(served)
	go func() { d.served <- d.server.Serve(d.socket) }()
	return d, nil
}

// closeNode closes the node, and then the server of BitTorrent clients, which
// serves its transfers.
func (d *Daemon) closeNode() (err error) {
	d.limits()
	if d.feeds != nil {
		d.feeds.Close()
	}
	if d.node != nil {
		err = d.node.Close()
	}
	if d.bt != nil {
		err = errors.Join(err, d.bt.Close())
	}
	return err
}

// close ends the node, which ends the streams of its clients. The socket is removed first, while the directory is
// locked: later it may belong to another daemon.
func (d *Daemon) close() error {
	err := d.socket.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	err = errors.Join(err, d.closeNode())
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	err = errors.Join(err, d.server.Shutdown(ctx))
	if served := <-d.served; !errors.Is(served, net.ErrClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// drain accepts no more calls and waits for the running ones, until ctx ends. It calls slow if that takes
// longer than noticeable.
func (d *Daemon) drain(ctx context.Context, slow func()) {
	timer := time.AfterFunc(noticeable, slow)
	defer timer.Stop()
	_ = d.server.Shutdown(ctx) // close reports what this cuts off
}

// Finder makes tracker clients for a node.
func Finder(log *slog.Logger) func(host.Host, []ma.Multiaddr) peer.Finder {
	return func(h host.Host, addrs []ma.Multiaddr) peer.Finder {
		infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
		if err != nil {
			log.Warn("trackers ignored", "error", err) // flags and links are checked before
		}
		return tracker.NewClient(h, infos, tracker.ClientConfig{Log: log})
	}
}
