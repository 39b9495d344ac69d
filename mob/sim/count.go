package sim

import "github.com/mobgrid/mob/proto"

// Count is a number of messages and their bytes.
type Count struct{ Messages, Bytes int64 }

// countRequest counts the bytes of a request that are stored already, or that another peer owes.
func (s *sim) countRequest(n, to *node, sp proto.Span) {
	s.result.Again += int64(int(sp.Length) - n.store.missingBytes(sp))
	for _, o := range n.asked[sp.Piece] {
		if o.peer != to && o.Begin < sp.Begin+sp.Length && sp.Begin < o.Begin+o.Length {
			s.result.Doubled += int64(min(o.Begin+o.Length, sp.Begin+sp.Length) - max(o.Begin, sp.Begin))
		}
	}
}

// stored records that a node has a piece.
func (s *sim) stored(n *node, piece int) {
	if n.index != 0 {
		s.elsewhere.Add(piece)
	}
}

func (s *sim) countMessage(t proto.Type, size int) {
	c := s.result.Messages[t]
	s.result.Messages[t] = Count{c.Messages + 1, c.Bytes + int64(size)}
}
