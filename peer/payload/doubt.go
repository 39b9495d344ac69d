package payload

import (
	"errors"

	"github.com/mobgrid/mob/peer/payload/coded"
)

// unmade sees to a block for a peer that could not be made, and returns why.
func (c *Config) unmade(to Peer, number uint32, err error) error {
	if errors.Is(err, ErrAbsent) {
		return ErrAbsent
	}
	c.Log.Error("block cannot be made", "number", number, "error", err)
	c.doubt(to, number, err)
	return err
}

// doubt has a piece checked that was found changed, which is what an error may say.
func (c *Config) doubt(p Peer, number uint32, err error) {
	var damaged *coded.DamagedError
	if errors.As(err, &damaged) {
		c.Swarm.Complain(Complaint{p, uint32(damaged.Piece), number})
	}
}
