package sim

import (
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// promiser is the strategy of a member that promises and never delivers: it claims every piece, or
// says that it has every piece. It answers pings, and gives nothing away.
type promiser struct {
	promise proto.Have
	out     []mob.Action
}

// ClaimOnly returns the strategy of a member that claims every piece and delivers none.
func ClaimOnly(pieces int) mob.Strategy { return newPromiser(pieces, true) }

func newPromiser(pieces int, claims bool) *promiser {
	all := []proto.Range{{Count: uint32(pieces)}}
	if claims {
		return &promiser{promise: proto.Have{Claim: all}}
	}
	return &promiser{promise: proto.Have{Have: all}}
}

// Step implements [mob.Strategy].
func (p *promiser) Step(_ time.Time, ev mob.Event) []mob.Action {
	p.out = p.out[:0]
	switch ev := ev.(type) {
	case mob.Joined:
		p.send(ev.ID, &proto.Want{})
		p.send(ev.ID, &p.promise)
	case mob.Learned:
		for _, nd := range ev.Nodes {
			p.out = append(p.out, mob.Dial{Peer: nd.ID})
		}
	case mob.Received:
		switch m := ev.Message.(type) {
		case *proto.Ping:
			p.send(ev.Peer, &proto.Pong{Nonce: m.Nonce})
		case *proto.Steal:
			p.send(ev.Peer, &proto.Give{})
		case *proto.Have:
			p.renew(ev.Peer, m)
		}
	}
	return p.out
}

// renew claims a piece again as soon as another member claims it.
func (p *promiser) renew(to proto.PeerID, m *proto.Have) {
	if p.promise.Claim == nil {
		return
	}
	var again []proto.Range
	for i := range bitset.Numbers(m.Claim, int(p.promise.Claim[0].Count)) {
		again = bitset.Append(again, i)
	}
	if again != nil {
		p.send(to, &proto.Have{Claim: again})
	}
}

func (p *promiser) send(to proto.PeerID, m proto.Message) {
	p.out = append(p.out, mob.Send{Peer: to, Message: m})
}

// Wake implements [mob.Strategy].
func (p *promiser) Wake() time.Duration { return time.Hour }

// Status implements [mob.Strategy].
func (p *promiser) Status() mob.Status { return mob.Status{} }

// withholds reports whether the node leaves a request unanswered.
func (n *node) withholds(s *sim) bool {
	return n.promises || n.hangs(s) || n.trickles && s.rng.IntN(trickle) > 0
}

// hangs reports whether the node's disk hangs: it neither reads nor writes.
func (n *node) hangs(s *sim) bool {
	pieces, ok := s.cfg.Faults.Hangs[n.index]
	return ok && n.store.has.Len() >= pieces
}

// trickle is of how many requests a node that trickles answers one.
const trickle = 10

// A slow node handles what has come, and its ticks, when it gets the CPU: between minNap and maxNap
// after the last time.
const (
	minNap = 500 * time.Millisecond
	maxNap = 5 * time.Second
)

// awake returns when a slow node gets the CPU, at a time or after it.
func (n *node) awake(s *sim, at time.Duration) time.Duration {
	if n.wakesAt < at {
		n.wakesAt = at + minNap + time.Duration(s.rng.Int64N(int64(maxNap-minNap)))
	}
	return n.wakesAt
}
