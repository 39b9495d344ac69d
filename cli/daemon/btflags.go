package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/peer"
)

// btFlags are the flags of a node about BitTorrent clients.
type btFlags struct {
	listen string
	upload string
}

func (b *btFlags) add(f *pflag.FlagSet) {
	f.StringVar(&b.listen, "bt-listen", "", "ADDR:PORT for BitTorrent clients to connect to; none by default")
	f.StringVar(&b.upload, "bt-upload", "", "upload limit for BitTorrent clients, per second, such as 20MB; none by default")
}

// config checks the flags. It returns nil without --bt-listen.
func (b *btFlags) config(trackers []string, log *slog.Logger) (*bittorrent.Config, error) {
	if b.listen == "" {
		if b.upload != "" {
			return nil, errors.New("--bt-upload is for BitTorrent clients: give --bt-listen as well")
		}
		return nil, nil
	}
	if err := CheckBTListen(b.listen); err != nil {
		return nil, err
	}
	cfg := &bittorrent.Config{Listen: b.listen, Torrent: torrentOf, Trackers: trackers, Client: "mob " + command.Version(), Log: log}
	if b.upload != "" {
		n, err := humanize.ParseBytes(b.upload)
		if err != nil || n == 0 || n > math.MaxInt64 {
			return nil, fmt.Errorf("--bt-upload %q: must be a number of bytes such as 20MB", b.upload)
		}
		cfg.Upload = int64(n)
	}
	return cfg, nil
}

// CheckBTListen checks a value of --bt-listen, which needs a port.
func CheckBTListen(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if _, invalid := net.LookupPort("tcp", port); err != nil || invalid != nil || port == "" {
		return fmt.Errorf("cannot listen on %q: give --bt-listen an address and a port such as 0.0.0.0:6881", addr)
	}
	return nil
}

// torrentOf returns what BitTorrent clients get of a transfer: nothing, unless its link has an info-hash.
func torrentOf(t *peer.Transfer) *bittorrent.Torrent {
	link := t.Link()
	if link.InfoHash.IsZero() {
		return nil
	}
	info := func() []byte { return t.Description().Torrent() }
	return &bittorrent.Torrent{
		Hash: link.InfoHash, Info: info, Trackers: link.Announce, Peers: link.TorrentPeers, Named: t.Announce(),
	}
}
