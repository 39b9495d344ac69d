package swarm

import (
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Config configures a swarm.
type Config struct {
	// Cluster is the node's cluster, and Key its identity.
	Cluster string
	Key     crypto.PrivKey
	// Link is the link of the swarm. It has the coding, and names peers.
	Link *proto.Link
	// Plan is the plan that the swarm follows, nil if it follows none, and Name the name of the
	// node's machine, which is used with a plan only.
	Plan *plan.Plan
	Name string
	// Verifier verifies pieces, and Store stores them. The caller closes the store after Run. If the
	// content grows, the caller calls [Swarm.Grow] or [Swarm.Gain].
	Verifier *store.Verifier
	Store    store.Store
	// Host opens streams to peers, and protects the connections of members. Bulk opens bulk sockets.
	Host host.Host
	Bulk *transport.Endpoint
	// Addrs returns the node's own addresses, as binary multiaddrs.
	Addrs func() [][]byte
	// Finder is the client of trackers. Nil means that there are none.
	Finder metadata.Finder
	// Seed seeds random choices.
	Seed uint64
	// Limits limit the payload.
	Limits Limits
	// Sharing is the node's part in a limit that its site shares. Nil means that it has none.
	Sharing Sharing
	// Tuning tunes the strategy.
	Tuning mob.Tuning
	// InOrder is set to fetch plain pieces from the front. Then the order of the pieces in a window is free, as in a stream.
	InOrder bool
	// UploadOnly is set for a seed: nothing is fetched.
	UploadOnly bool
	// Finished is called in a separate goroutine when every piece is stored, and Damaged when
	// stored pieces were found to be damaged. Unless UploadOnly is set, they are fetched again and
	// Finished is called again. Run waits for both.
	Finished func(*Swarm)
	Damaged  func()
	// Lost are pieces that were found to be damaged before the start. Unreadable are unverified
	// pieces that could not be read because of Why: they are neither offered nor fetched until
	// they can be read. Both must be empty if the transfer is coded.
	Lost, Unreadable []int
	Why              error
	// LeftOut lists the pieces, in order, that the node neither has nor fetches. It is empty if the transfer is coded.
	LeftOut []int
	// Faults are injected for tests.
	Faults Faults
	// Log must not be nil.
	Log *slog.Logger
}

// Sharing is a node's part in a limit that its site shares. Its methods may be called from any
// goroutine, and do not block.
type Sharing interface {
	// Join adds a session with a member of the site, until leave is called. send sends it a
	// message.
	Join(id proto.PeerID, send func(proto.Message)) (leave func())
	// Hear records the demand of a member.
	Hear(id proto.PeerID, m *proto.Demand)
}

// Faults is fault injection for tests. The zero value injects none.
type Faults struct {
	// Codec, if not nil, wraps the codec of a swarm, for example to encode corrupt blocks.
	Codec func(*proto.Link, payload.Codec) payload.Codec
	// Strategy, if not nil, returns a strategy that replaces the one of a swarm with a number
	// of pieces.
	Strategy func(pieces int) mob.Strategy
	// Path, if not nil, replaces the kernel's statistics of a bulk socket, and Congestion the call
	// that sets its congestion control.
	Path       func(*transport.Conn) transport.Path
	Congestion func(c *transport.Conn, name string) error
	// DirectRetry, if not 0, replaces the pause between two attempts to open a bulk socket
	// to a peer.
	DirectRetry time.Duration
}
