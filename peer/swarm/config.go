package swarm

import (
	"context"
	"log/slog"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Config is what a swarm needs.
type Config struct {
	// Cluster is the node's cluster, and Key its identity.
	Cluster string
	Key     crypto.PrivKey
	// Link is the link by which the swarm was started: it says whether the transfer is
	// coded.
	Link *proto.Link
	// Keys returns the ids of the content, under which it is announced and served. There
	// may be more in the course of time.
	Keys func() []cid.Cid
	// Verifier verifies pieces, Store has them. The caller closes the store.
	Verifier *store.Verifier
	Store    store.Store
	// Network is the node's.
	Network Network
	// Finder asks trackers for members. Nil means that there are no trackers.
	Finder metadata.Finder
	// Seed seeds random choices.
	Seed uint64
	// Tuning is the strategy's.
	Tuning mob.Tuning
	// Finished is called once, in a goroutine of its own, when every piece is stored. Run
	// waits for it.
	Finished func(*Swarm)
	// Faults are for tests.
	Faults Faults
	// Log must not be nil.
	Log *slog.Logger
}

// Network is what a swarm needs of the node's transport. Methods may be called from any
// goroutine.
type Network interface {
	// OpenStream opens a stream to a peer, and connects to it first if need be.
	OpenStream(ctx context.Context, to libpeer.AddrInfo, id protocol.ID) (network.Stream, error)
	// DialBulk opens a bulk socket to a peer at one address.
	DialBulk(ctx context.Context, to libpeer.ID, at ma.Multiaddr) (*transport.Conn, error)
	// KnownAddrs returns the addresses at which a connected peer may be reached, as far as
	// libp2p knows.
	KnownAddrs(id libpeer.ID) []ma.Multiaddr
	// Addrs returns the node's own addresses, as binary multiaddrs.
	Addrs() [][]byte
}

// Faults is fault injection for tests. The zero value injects none.
type Faults struct {
	// Codec, if not nil, wraps the codec of a swarm, for example to encode false blocks.
	Codec func(*proto.Link, payload.Codec) payload.Codec
	// RTT, if not nil, replaces the round trip measured on a bulk socket.
	RTT func(*transport.Conn) time.Duration
	// DirectRetry, if not 0, replaces the pause between two attempts to open a bulk socket
	// to a peer.
	DirectRetry time.Duration
}
