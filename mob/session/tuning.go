package session

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/roster"
)

// Tuning has the constants of the algorithm. None is part of the protocol.
type Tuning struct {
	flow.Limits
	conduct.Rules
	roster.Settings
	avail.Batching
}
