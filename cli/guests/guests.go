// Package guests is what a node's flags say of BitTorrent clients, and what
// these are told of a transfer.
package guests

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// Flags are those of a node that are about BitTorrent clients.
type Flags struct {
	listen string
	upload string
}

// Add adds the flags to a command's.
func (g *Flags) Add(f *pflag.FlagSet) {
	f.StringVar(&g.listen, "bt-listen", "", "ADDR:PORT to serve BitTorrent clients at; none by default")
	f.StringVar(&g.upload, "bt-upload", "", "bound on what goes to BitTorrent clients, per second, such as 20MB; none by default")
}

// Config checks the flags. Nil means that there are to be no guests.
func (g *Flags) Config(version string, log *slog.Logger) (*bittorrent.Config, error) {
	if g.listen == "" {
		if g.upload != "" {
			return nil, errors.New("--bt-upload is for BitTorrent clients: give --bt-listen as well")
		}
		return nil, nil
	}
	if _, port, err := net.SplitHostPort(g.listen); err != nil || port == "" {
		return nil, fmt.Errorf("cannot listen at %q: give --bt-listen an address and a port such as 0.0.0.0:6881", g.listen)
	}
	cfg := &bittorrent.Config{Listen: g.listen, Torrent: torrentOf, Client: "mob " + version, Log: log}
	if g.upload != "" {
		n, err := humanize.ParseBytes(g.upload)
		if err != nil || n == 0 || n > math.MaxInt64 {
			return nil, fmt.Errorf("--bt-upload %q is no number of bytes such as 20MB", g.upload)
		}
		cfg.Upload = int64(n)
	}
	return cfg, nil
}

// torrentOf is what BitTorrent is told of a transfer: nothing, unless its link has an
// info-hash.
func torrentOf(t *peer.Transfer) *bittorrent.Torrent {
	link, err := proto.ParseLink(t.Link())
	if err != nil || link.InfoHash.IsZero() {
		return nil
	}
	return &bittorrent.Torrent{Hash: link.InfoHash, Info: t.Torrent, Trackers: link.Announce, Peers: link.TorrentPeers}
}

// Door is where guests come in. One that stays shut has no port and no goroutine.
type Door struct{ server *bittorrent.Server }

// Open opens the door, unless cfg is nil.
func Open(cfg *bittorrent.Config) (d Door, err error) {
	if cfg != nil {
		d.server, err = bittorrent.Listen(*cfg)
	}
	return d, err
}

// Beside is for the node, nil while the door is shut.
func (d Door) Beside() peer.Beside {
	if d.server == nil {
		return nil
	}
	return d.server.Beside
}

// Describe is for the node, nil while the door is shut.
func (d Door) Describe() func(context.Context, *proto.Link) ([]byte, error) {
	if d.server == nil {
		return nil
	}
	return d.server.Describe
}

// Addr is where the door is, not valid while it is shut.
func (d Door) Addr() netip.AddrPort {
	if d.server == nil {
		return netip.AddrPort{}
	}
	at := d.server.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// Close sends guests away. It comes after the end of the node.
func (d Door) Close() error {
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}
