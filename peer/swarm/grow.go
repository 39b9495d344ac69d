package swarm

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// Growing content gets pieces while the swarm runs. The caller calls Grow at a node that fetches it, and
// Gain at its source. The verifier knows the pieces before that.

// Grow adds pieces from the number first on, with their sizes in bytes, to be fetched. It blocks while the
// loop is behind.
func (s *Swarm) Grow(first int, sizes []int) { s.Post(mob.Grown{First: first, Sizes: sizes}, nil) }

// Gain adds a piece that the store of the source has. It blocks while the loop is behind.
func (s *Swarm) Gain(piece int) { s.Post(mob.Stored{Piece: piece}, nil) }

// Withhold withdraws pieces that the store no longer has. The node does not fetch them again. It blocks
// while the loop is behind.
func (s *Swarm) Withhold(pieces proto.Range) { s.Post(mob.Withheld{Range: pieces}, nil) }
