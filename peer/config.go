package peer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// DefaultCluster is the cluster of a node that is given none.
const DefaultCluster = "local"

// Config is what a node needs. Its zero value with a Data folder makes a node that others on
// the same machine can reach.
type Config struct {
	// Data is the folder for the node's key, state and lock. It is created if it is not
	// there.
	Data string
	// Cluster is the name of the node's cluster: the nodes with a fast network between them.
	// Empty means DefaultCluster.
	Cluster string
	// Listen are the addresses to accept connections at. None means a free TCP port of the
	// loopback interface.
	Listen []ma.Multiaddr
	// Trackers are asked for members of every transfer, besides those of its link.
	Trackers []ma.Multiaddr
	// Finder makes the client of some trackers. Nil means that no tracker is ever asked, and
	// links must name peers.
	Finder func(host.Host, []ma.Multiaddr) Finder
	// Torrents converts manifests to info dictionaries and back. Nil means that no content
	// can be offered to BitTorrent clients, and no torrent be fetched.
	Torrents metadata.Torrents
	// Describe gets the info dictionary of a link's info-hash from BitTorrent clients. It
	// blocks until it has one with that SHA-1, or ctx ends. Nil means that such clients are
	// not asked.
	Describe func(ctx context.Context, link *proto.Link) (info []byte, err error)
	// AttachExternal, if not nil, is run beside every swarm, in a goroutine of its own, and
	// attaches external peers to it, see [Transfer.Attach]. It must return when ctx ends.
	AttachExternal func(ctx context.Context, t *Transfer)
	// OpenFiles bounds how many content files are open at a time. 0 means
	// [store.DefaultOpenFiles].
	OpenFiles int
	// Tuning is the swarm's. The zero value means [mob.DefaultTuning].
	Tuning mob.Tuning
	// Log receives what an operator may want to know. Nil means no log.
	Log *slog.Logger
}

// Finder finds members of a swarm. Its methods may be called from any goroutine.
type Finder interface {
	// Announce tells of this node and returns members. It blocks for seconds at
	// most.
	Announce(context.Context, *proto.Announce) (*proto.Handout, error)
	// Close ends what is under way.
	Close() error
}

// withDefaults returns the configuration with its zero values replaced.
func (c Config) withDefaults() Config {
	c.Cluster = cmp.Or(c.Cluster, DefaultCluster)
	if len(c.Listen) == 0 {
		c.Listen = []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Tuning == (mob.Tuning{}) {
		c.Tuning = mob.DefaultTuning()
	}
	return c
}

func (c *Config) validate() error {
	if c.Data == "" {
		return errors.New("no data folder is given")
	}
	return proto.CheckCluster(c.Cluster)
}
