package swarm

import (
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Limits, for tests.
const (
	MaxChannels    = maxChannels
	MaxFlows       = maxFlows
	MaxUnrequested = maxUnrequested
)

// Of returns the swarm that an attachment is for.
func Of(a *Attachment) *Swarm { return a.swarm }

// Channels returns how many bulk sockets and streams there are to a node, both directions
// together. Joined is false if there is no session with it.
func (s *Swarm) Channels(id libpeer.ID) (sockets, streams int, joined bool) {
	c := s.nodePeer(proto.PeerID(id))
	if c == nil {
		return 0, 0, false
	}
	c.channels.Lock()
	defer c.channels.Unlock()
	for ch := range c.channels.open {
		if _, ok := ch.(*transport.Conn); ok {
			sockets++
		} else {
			streams++
		}
	}
	return sockets, streams, true
}

// Connect opens a session with a node. It blocks until the node has answered.
func (s *Swarm) Connect(to libpeer.AddrInfo) error {
	c, err := s.connect(to)
	if err == nil {
		s.join(c)
	}
	return err
}

// Hang has the loop hang until goOn is called.
func (s *Swarm) Hang() (goOn func()) {
	began, over := make(chan struct{}), make(chan struct{})
	s.post(func() {
		close(began)
		<-over
	})
	<-began
	return func() { close(over) }
}

// WrapSharing replaces the swarm's part in the limit of its cluster. The loop hangs, and there is no
// session.
func (s *Swarm) WrapSharing(wrap func(Sharing) Sharing) { s.cfg.Sharing = wrap(s.cfg.Sharing) }
