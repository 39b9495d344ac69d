package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/session"
)

// Control is the part of a State that a [Picker] uses and changes: its peers, groups and numbers.
type Control struct {
	*session.Table
	s *State
}

// Store records that number i is stored and verified, and announces it.
func (c *Control) Store(i int) { c.s.store(i) }

// Announce announces a number that is stored, again to peers that know it.
func (c *Control) Announce(i int) { c.s.announce(i, avail.Have) }

// Drop records that number i is not stored any more, announces that, and reports whether it was.
func (c *Control) Drop(i int) bool {
	stored, offered := c.s.Stored.Remove(i)
	if offered {
		c.s.announceLoss(i)
	}
	return stored
}

// GiveUp ends the fetch of number i, if there is one.
func (c *Control) GiveUp(i int) { c.s.giveUp(i) }
