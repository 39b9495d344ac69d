package peer

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// DefaultCluster is the cluster of a node whose configuration names none.
const DefaultCluster = "local"

// Config configures a node. The zero value with a Data directory is a node that other nodes on the same
// machine can reach.
type Config struct {
	// Data is the directory of the node's key, state and lock. Start creates it if necessary. One
	// process at a time may use it.
	Data string
	// Cluster names the node's cluster: the nodes that share a fast network. It may be a
	// path, of a site and parts of it (see [proto.CheckCluster]). Empty means
	// DefaultCluster.
	Cluster string
	// Host is the name of the node's host. The nodes of a planned transfer find each other by these names,
	// and send them to no other node. Empty means the name of the machine.
	Host string
	// Listen are the addresses at which the node accepts connections. None means a free TCP
	// port of the loopback interface.
	Listen []ma.Multiaddr
	// Trackers are asked for the members of every swarm, in addition to the trackers of its link.
	Trackers []ma.Multiaddr
	// Network is the private network of the node. Start sets Self, Cluster and the paths of its lists.
	// Nil means that the node accepts every node.
	Network *membership.Config
	// Finder returns the client of some trackers. Nil means that no tracker is asked: links
	// must name peers.
	Finder func(host.Host, []ma.Multiaddr) Finder
	// Torrents converts manifests to info dictionaries and back. Nil means that the node can
	// neither offer content to BitTorrent clients nor get torrents.
	Torrents metadata.Torrents
	// Describe requests the info dictionary of a link's info-hash from BitTorrent clients. It
	// blocks until it has one with that SHA-1, or ctx ends. Nil means that BitTorrent clients
	// are not asked.
	Describe func(ctx context.Context, link *proto.Link) (info []byte, err error)
	// ClientsProblem returns why no BitTorrent clients are found for an info-hash, empty if there is
	// nothing to report. Nil means that there is not.
	ClientsProblem func(proto.InfoHash) string
	// AttachExternal, if not nil, runs in a separate goroutine for every swarm, and
	// attaches external peers with [Transfer.Attach]. It must return when ctx ends.
	AttachExternal func(ctx context.Context, t *Transfer)
	// Limits are the limits of the node at its start.
	Limits limit.Limits
	// Umask has the permissions that are taken off the modes in manifests. 0 keeps the modes of the source.
	Umask fs.FileMode
	// Tuning tunes the strategy of every swarm. The zero value means [mob.DefaultTuning].
	Tuning mob.Tuning
	// Log is for the operator. The node writes short names to it instead of content ids, see [Node.Names]. Nil
	// means no log.
	Log *slog.Logger
}

// Finder finds the members of swarms. Its methods may be called from any goroutine.
type Finder interface {
	metadata.Finder
	// Close ends calls in progress.
	Close() error
}

// withDefaults returns the configuration with its zero values replaced.
func (c Config) withDefaults() Config {
	c.Cluster = cmp.Or(c.Cluster, DefaultCluster)
	if c.Host == "" {
		if c.Host, _ = os.Hostname(); proto.CheckHost(c.Host) != nil {
			c.Host = "localhost"
		}
	}
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
		return errors.New("no data directory")
	}
	return errors.Join(proto.CheckCluster(c.Cluster), proto.CheckHost(c.Host))
}
