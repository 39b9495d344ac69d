package peer

import (
	"context"
	"slices"
	"sync"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

// sharing is the node's part in the limit that the members of its site share. It implements
// [swarm.Sharing]: a member is a node of the site that some swarm has a session with.
type sharing struct {
	share *limit.Share

	mu       sync.Mutex
	sessions map[proto.PeerID][]*sharingSession
}

// sharingSession is a session with a member.
type sharingSession struct{ send func(proto.Message) }

func newSharing() *sharing {
	return &sharing{share: limit.NewShare(), sessions: map[proto.PeerID][]*sharingSession{}}
}

// run sends the demand of the node to the members, until ctx ends.
func (s *sharing) run(ctx context.Context) {
	s.share.Run(ctx, func(limit.Demand) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, all := range s.sessions {
			s.sendDemand(all[0])
		}
	})
}

// sendDemand sends the demand of the node. The caller has the lock, so that a session receives the newest last.
func (s *sharing) sendDemand(to *sharingSession) {
	d := s.share.Demand()
	to.send(&proto.Demand{Limit: uint64(d.Limit), Rate: uint64(d.Rate)})
}

// Join implements [swarm.Sharing].
func (s *sharing) Join(id proto.PeerID, send func(proto.Message)) (leave func()) {
	c := &sharingSession{send}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[id] = append(s.sessions[id], c)
	if s.share.Demand().Limit > 0 {
		s.sendDemand(c)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		all := slices.DeleteFunc(s.sessions[id], func(o *sharingSession) bool { return o == c })
		if s.sessions[id] = all; len(all) == 0 {
			delete(s.sessions, id)
			s.share.Leave(libpeer.ID(id).String())
		} else if s.share.Demand().Limit > 0 { // what the ended session was sent last may not have arrived
			s.sendDemand(all[0])
		}
	}
}

// Hear implements [swarm.Sharing].
func (s *sharing) Hear(id proto.PeerID, m *proto.Demand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions[id]) > 0 { // else its last session has just ended
		s.share.Receive(libpeer.ID(id).String(), limit.Demand{Limit: limit.Rate(m.Limit), Rate: limit.Rate(m.Rate)})
	}
}

// Share returns the node's part in the limit that its site shares, nil if it has no such limit.
func (n *Node) Share() *limit.ShareStatus { return n.sharing.share.Status() }
