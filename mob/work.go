package mob

import "github.com/mobgrid/mob/proto"

// The messages of a peer cost it a few bytes, and may cost the node work for every piece: to
// subscribe to all pieces again and again, to announce and drop them, to steal. So each peer has a
// budget of work, in pieces, which is many times what honest peers use at the busiest moment. It does
// not count the haves that the node asked for.
const (
	// A peer may cause so much work at once, for each piece and besides, and so much per second.
	workPerPiece, workAtOnce  = 64, 8192
	workPerSecond, workAnyway = 1, 512
	pingWork, stealWork       = 8, 16
	dropWork, wantWork        = 2, 0.25
	mostOwed                  = 2 // haves that may be owed, in times of the pieces
)

// affords reports whether a peer has work left in its budget for a message, and takes it out.
func (s *State) affords(p *peer, m proto.Message) bool {
	n := float64(s.pieces)
	return p.work.take(s.now, s.work(p, m), workPerPiece*n+workAtOnce, workPerSecond*n+workAnyway)
}

// work estimates the work of a message.
func (s *State) work(p *peer, m proto.Message) float64 {
	switch m := m.(type) {
	case *proto.Have:
		fresh := s.numbers(m.Have) + s.numbers(m.Claim)
		owed := min(fresh, p.owed)
		p.owed -= owed
		return 1 + float64(fresh-owed) + dropWork*float64(s.numbers(m.Drop))
	case *proto.Want:
		return 1 + wantWork*float64(s.numbers(m.Pieces))
	case *proto.Steal:
		return stealWork + float64(len(s.fetches))
	case *proto.Ping:
		return pingWork
	}
	return 1
}

// owe notes that the node asked a peer to announce pieces.
func (s *State) owe(p *peer, rs []proto.Range) {
	p.owed = min(p.owed+s.numbers(rs), mostOwed*s.pieces)
}

// numbers counts the pieces in ranges.
func (s *State) numbers(rs []proto.Range) (n int) {
	for _, r := range rs {
		n += max(0, int(min(r.End(), uint64(s.pieces)))-int(r.First))
	}
	return n
}
