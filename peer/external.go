package peer

import (
	"errors"

	"github.com/mobgrid/mob/peer/swarm"
)

// External peers speak another protocol, such as stock BitTorrent clients.
type (
	// ExternalPeer is the connection to one.
	ExternalPeer = swarm.ExternalPeer
	// ExternalPeerInfo describes one.
	ExternalPeerInfo = swarm.ExternalPeerInfo
	// Attachment attaches one to a swarm.
	Attachment = swarm.Attachment
	// Buffer holds a block.
	Buffer = swarm.Buffer
)

var errNoSwarm = errors.New("no swarm of this content runs")

// Attach makes an attachment for an external peer. It fails while no swarm runs, and for a
// coded transfer.
func (t *Transfer) Attach() (*Attachment, error) {
	t.mu.Lock()
	s := t.mu.swarm
	t.mu.Unlock()
	if s == nil {
		return nil, errNoSwarm
	}
	return s.Attach()
}
