package peer

import (
	"context"
	"errors"
	"log/slog"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// Config says what a Node needs.
type Config struct {
	// Data is the folder for the node's key, state and lock. It is made when it
	// is not there.
	Data string
	// Cluster is the name of the node's cluster.
	Cluster string
	// Listen are the addresses to accept connections at.
	Listen []ma.Multiaddr
	// Trackers are asked for every transfer, beside those of its link.
	Trackers []ma.Multiaddr
	// Finder makes the client of some trackers. Nil means no tracker is ever
	// asked, and links must name peers.
	Finder func(host.Host, []ma.Multiaddr) Finder
	// Torrents makes what BitTorrent clients know contents by. Nil means that no
	// content can be offered to them, and no torrent be fetched.
	Torrents metadata.Torrents
	// Describe gets the info dictionary of a link's info-hash from BitTorrent clients.
	// It blocks until it has one whose SHA-1 that is, or ctx ends. Nil means that such
	// clients are not asked.
	Describe func(ctx context.Context, link *proto.Link) (info []byte, err error)
	// AttachExternal, if not nil, is run beside every swarm, in a goroutine of its own, and
	// attaches external peers to it, see [Transfer.Attach]. It must return when ctx ends.
	AttachExternal func(ctx context.Context, t *Transfer)
	// OpenFiles is the budget of open content files, 0 for the default.
	OpenFiles int
	// Tuning is the swarm's; the zero value stands for the default.
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

func (c *Config) validate() error {
	if c.Data == "" {
		return errors.New("no data folder is given")
	}
	if err := proto.CheckCluster(c.Cluster); err != nil {
		return err
	}
	if len(c.Listen) == 0 {
		return errors.New("no address to listen at is given")
	}
	return nil
}
