package roster

import (
	"cmp"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/proto"
)

// Member is a member of a swarm.
type Member struct {
	ID      proto.PeerID
	Cluster string
	// Host is the name of its host, empty if unknown. It is used with a plan only.
	Host string
	// External is true if the peer speaks another protocol and has its own cluster. It is not
	// dialed or advertised, and is forgotten when it leaves.
	External bool
}

// Node is a member that the node knows.
type Node struct {
	Member
	Record *conduct.Record

	shared    int // parts of its cluster's name that it shares with the node's
	joined    bool
	announced bool // since it joined
	silent    bool // see [conduct.Peer]
	dialing   bool
	failed    bool // its stream ended or its dial failed since it last joined
	// awaited, if not 0, is the number of sessions that may still end without a message before the node
	// stops waiting for the member. stale: the dial in progress started before. See reunite.
	awaited int
	stale   bool
	retryAt time.Time
	pause   time.Duration // before the next dial
	fails   int           // since it last joined and announced its pieces
}

// alive reports whether a member counts in ranks and shares: it is joined and not silent, or not known to
// be unreachable.
func (n *Node) alive() bool { return n.joined && !n.silent || !n.joined && !n.failed }

func byID(a, b *Node) int { return cmp.Compare(a.ID, b.ID) }

func find(ns []*Node, id proto.PeerID) (int, bool) {
	return slices.BinarySearchFunc(ns, id, func(n *Node, id proto.PeerID) int { return cmp.Compare(n.ID, id) })
}
