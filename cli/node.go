package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/address"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/guests"
	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/tracker"
)

// lastWords is how long clients have to read the last event of their stream when
// a daemon shuts down.
const lastWords = 2 * time.Second

// noticeable is how long a command may take to end without a word.
const noticeable = 500 * time.Millisecond

// nodeConfig says what a daemon needs.
type nodeConfig struct {
	cluster  string
	listen   []ma.Multiaddr
	data     string // absolute
	trackers []ma.Multiaddr
	guests   *bittorrent.Config // nil for none
	// btTrackers are URLs for the links of contents that are offered to BitTorrent.
	btTrackers []string
	log        *slog.Logger
}

// daemon is a node with its control socket.
type daemon struct {
	node   *peer.Node
	guests guests.Door
	server *control.Server
	socket net.Listener
	served chan error // what Serve returned
}

func startDaemon(cfg nodeConfig) (_ *daemon, err error) {
	d := &daemon{served: make(chan error, 1)}
	if d.guests, err = guests.Open(cfg.guests); err != nil {
		return nil, err
	}
	if d.node, err = peer.Start(peer.Config{Data: cfg.data, Cluster: cfg.cluster, Listen: cfg.listen,
		Trackers: cfg.trackers, Finder: finder(cfg.log), Beside: d.guests.Beside(), Describe: d.guests.Describe(), Torrents: metainfo.Codec{}, Log: cfg.log}); err != nil {
		return nil, errors.Join(err, d.guests.Close())
	}
	// The node has the lock of the folder, so a socket that is there is a dead one.
	if d.socket, err = control.Listen(cfg.data); err != nil {
		return nil, errors.Join(err, d.node.Close(), d.guests.Close())
	}
	served := control.Config{Node: d.node, Data: cfg.data, Trackers: cfg.trackers, BTTrackers: cfg.btTrackers, Version: version()}
	if at := d.guests.Addr(); at.IsValid() {
		served.BTPeers = address.Reachable(at)
	}
	d.server = control.NewServer(served)
	go func() { d.served <- d.server.Serve(d.socket) }()
	return d, nil
}

// close ends the node, and tells the clients that wait for it. The socket goes
// first, while the folder is still locked: after that it may be another's.
func (d *daemon) close() error {
	err := d.socket.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	err = errors.Join(err, d.node.Close(), d.guests.Close())
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	err = errors.Join(err, d.server.Shutdown(ctx))
	if serr := <-d.served; !errors.Is(serr, net.ErrClosed) {
		err = errors.Join(err, serr)
	}
	return err
}

// drain lets the calls of clients come to their end, and takes no more, until ctx
// ends. slow is called when that takes long enough to be noticed.
func (d *daemon) drain(ctx context.Context, slow func()) {
	timer := time.AfterFunc(noticeable, slow)
	defer timer.Stop()
	_ = d.server.Shutdown(ctx) // what it cuts off is told by close
}

// finder makes the clients of trackers for a node.
func finder(log *slog.Logger) func(host.Host, []ma.Multiaddr) peer.Finder {
	return func(h host.Host, addrs []ma.Multiaddr) peer.Finder {
		infos, err := control.Trackers(addrs)
		if err != nil {
			log.Warn("trackers left out", "error", err) // the link's were checked, the flags' as well
		}
		return tracker.NewClient(h, infos, tracker.ClientConfig{Log: log})
	}
}
