package coded

import (
	"errors"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// base is the common part of the codecs.
type base struct {
	cfg         payload.Config
	generations *content
}

func newDisk(cfg *payload.Config, coding proto.Coding) disk {
	return disk{newLayout(cfg.Verifier.Manifest(), coding), cfg.Verifier, cfg.Store}
}

// Discard implements [payload.Codec]: a block comes from one peer.
func (c *base) Discard(int) {}

func (c *base) Restore(piece int) {
	if g := c.generations.GenerationOf(piece); c.generations.Has(g) {
		c.cfg.Swarm.Post(mob.Decoded{Generation: g}, nil)
	}
}

// damaged reports whether an error names a damaged piece, which it has checked.
func (c *base) damaged(p payload.Peer, number uint32, err error) bool {
	damaged, ok := errors.AsType[*damagedError](err)
	if ok {
		c.cfg.Swarm.Suspect(payload.Suspicion{Peer: p, Piece: uint32(damaged.Piece), Number: number})
	}
	return ok
}

// failed ends the swarm because of an error, unless that names a damaged piece.
func (c *base) failed(p payload.Peer, number uint32, err error) {
	if err != nil && !c.damaged(p, number, err) {
		c.cfg.Swarm.Fail(err)
	}
}
