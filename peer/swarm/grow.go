package swarm

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// The pieces of a content that grows come into being while the swarm runs. A node that fetches the
// content is told of them by Grow, and its source by Gain. The verifier knows them before that.

// Grow says that the content has pieces from the number first on, of so many bytes. They are fetched. It
// waits while the loop is behind.
func (s *Swarm) Grow(first int, sizes []int) { s.Post(mob.Grown{First: first, Sizes: sizes}, nil) }

// Gain says that the store of the source has another piece. It waits while the loop is behind.
func (s *Swarm) Gain(piece int) { s.Post(mob.Stored{Piece: piece}, nil) }

// Withhold says that the store does not have pieces any more: peers are told, and the node does not fetch
// them again. It waits while the loop is behind.
func (s *Swarm) Withhold(pieces proto.Range) { s.Post(mob.Withheld{Range: pieces}, nil) }
