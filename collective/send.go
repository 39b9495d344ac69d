package collective

import (
	"errors"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
)

// send sends a value to other members, unless the run has ended. It does not wait for them. The data must not change
// before the operation ends.
func (c *Comm) send(f frame, to ...int) {
	f.Run, f.Total = c.run, uint32(len(f.data))
	for more := len(to) > 0; more && c.ctx.Err() == nil; more = f.Offset < f.Total {
		n := min(maxData, f.Total-f.Offset)
		parcels, err := group.Pack(f.append(nil), f.data[f.Offset:f.Offset+n]...)
		for _, rank := range to {
			if err == nil {
				err = c.g.SendPacked(c.ctx, libpeer.ID(c.roster.Members[rank].ID), parcels)
			}
			switch {
			case err == nil || c.ctx.Err() != nil:
			case errors.Is(err, group.ErrClosed):
				c.fail(err)
				return
			default:
				c.lose(rank)
				return
			}
		}
		f.Offset += n
	}
}
