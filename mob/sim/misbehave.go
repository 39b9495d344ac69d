package sim

import (
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// claimer is the strategy of a member that claims every piece, or announces that it has every piece, and
// sends none. It answers pings.
type claimer struct {
	claims proto.Have
	out    []mob.Action
}

// ClaimOnly returns the strategy of a member that claims every piece and delivers none, for nodes on the grid.
func ClaimOnly(pieces int) mob.Strategy { return newClaimer(pieces, true) }

func newClaimer(pieces int, claims bool) *claimer {
	all := []proto.Range{{Count: uint32(pieces)}}
	if claims {
		return &claimer{claims: proto.Have{Claim: all}}
	}
	return &claimer{claims: proto.Have{Have: all}}
}

// Step implements [mob.Strategy].
func (p *claimer) Step(_ time.Time, ev mob.Event) []mob.Action {
	p.out = p.out[:0]
	switch ev := ev.(type) {
	case mob.Joined:
		p.send(ev.ID, &proto.Want{})
		p.send(ev.ID, &p.claims)
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
func (p *claimer) renew(to proto.PeerID, m *proto.Have) {
	if p.claims.Claim == nil {
		return
	}
	var again []proto.Range
	for i := range bitset.Numbers(m.Claim, int(p.claims.Claim[0].Count)) {
		again = bitset.Append(again, i)
	}
	if again != nil {
		p.send(to, &proto.Have{Claim: again})
	}
}

func (p *claimer) send(to proto.PeerID, m proto.Message) {
	p.out = append(p.out, mob.Send{Peer: to, Message: m})
}

// Wake implements [mob.Strategy].
func (p *claimer) Wake() time.Duration { return time.Hour }

// Status implements [mob.Strategy].
func (p *claimer) Status() mob.Status { return mob.Status{} }

// ignores reports whether the node leaves a request unanswered.
func (n *node) ignores(s *sim) bool {
	return n.claimsOnly || n.hangs(s) || n.trickles && s.rng.IntN(trickle) > 0
}

// hangs reports whether the node's disk hangs: it neither reads nor writes.
func (n *node) hangs(s *sim) bool {
	pieces, ok := s.cfg.Faults.Hangs[n.index]
	return ok && n.store.has.Len() >= pieces
}

// trickle is the number of requests per answer of a node that trickles.
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
