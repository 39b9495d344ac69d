package conduct

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// A message costs a peer a few bytes, and may cost the node work for every piece. So each peer has a budget of
// work, in pieces, many times what honest peers use at their busiest. Haves that the node asked for are free.
const (
	// Work that a peer may cause at a time, and per second: for each piece, and in addition.
	workPerPiece, workAtOnce  = 64, 8192
	workPerSecond, workAnyway = 1, 512
	pingWork, stealWork       = 8, 16
	dropWork, wantWork        = 2, 0.25
	membersWork               = 256 // the node looks at all its candidates
	mostOwed                  = 2   // haves that may be owed, in times of the pieces
)

// Affords deducts the work of a message from a peer's budget, and reports whether it was sufficient. The node
// has that number of pieces and fetches.
func (p *Peer) Affords(now time.Time, m proto.Message, pieces, fetches int) bool {
	n := float64(pieces)
	return p.work.take(now, p.cost(m, pieces, fetches), workPerPiece*n+workAtOnce, workPerSecond*n+workAnyway)
}

// cost estimates the work of a message.
func (p *Peer) cost(m proto.Message, pieces, fetches int) float64 {
	switch m := m.(type) {
	case *proto.Have:
		fresh := numbers(m.Have, pieces) + numbers(m.Claim, pieces)
		owed := min(fresh, p.owed)
		p.owed -= owed
		return 1 + float64(fresh-owed) + dropWork*float64(numbers(m.Drop, pieces))
	case *proto.Want:
		return 1 + wantWork*float64(numbers(m.Pieces, pieces))
	case *proto.Steal:
		return stealWork + float64(fetches)
	case *proto.Ping:
		return pingWork
	case *proto.Members, *proto.Hosts:
		return membersWork
	}
	return 1
}

// Owe records that the node asked a peer to announce pieces.
func (p *Peer) Owe(rs []proto.Range, pieces int) {
	p.owed = min(p.owed+numbers(rs, pieces), mostOwed*pieces)
}

// numbers returns how many of the pieces are in the ranges.
func numbers(rs []proto.Range, pieces int) (n int) {
	for _, r := range rs {
		n += max(0, int(min(r.End(), uint64(pieces)))-int(r.First))
	}
	return n
}
