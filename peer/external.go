package peer

import (
	"errors"

	"github.com/mobgrid/mob/peer/swarm"
)

// External peers speak another protocol, such as stock BitTorrent clients.
type (
	// ExternalPeer is the connection to an external peer. It translates between the protocols.
	ExternalPeer = swarm.ExternalPeer
	// ExternalPeerInfo describes an external peer to its swarm.
	ExternalPeerInfo = swarm.ExternalPeerInfo
	// Attachment attaches an external peer to a swarm, see [Transfer.Attach].
	Attachment = swarm.Attachment
)

var errNoSwarm = errors.New("the transfer takes part in no swarm now")
