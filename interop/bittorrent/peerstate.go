package bittorrent

import (
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// peerState contains the announcements of both sides of a connection. It needs a lock.
type peerState struct {
	local, remote *bitset.Set // pieces of the node and of the client
	missing       int         // pieces of the client that the node needs
	interested    bool        // as last sent to the client
	unchoked      bool        // by the client
}

func newPeerState(pieces int) peerState {
	return peerState{local: bitset.New(pieces), remote: bitset.New(pieces)}
}

// addLocal adds a piece of the node, and reports whether it is new to the client.
func (s *peerState) addLocal(i int) bool {
	if !s.local.Add(i) {
		return false
	}
	if s.remote.Has(i) {
		s.missing--
	}
	return true
}

func (s *peerState) removeLocal(i int) {
	if s.local.Remove(i) && s.remote.Has(i) {
		s.missing++
	}
}

// addRemote adds a piece of the client, and reports whether it is new.
func (s *peerState) addRemote(i int) bool {
	if !s.remote.Add(i) {
		return false
	}
	if !s.local.Has(i) {
		s.missing++
	}
	return true
}

func (s *peerState) removeRemote(i int) {
	if s.remote.Remove(i) && !s.local.Has(i) {
		s.missing--
	}
}

func (s *peerState) available() []proto.Range {
	if !s.unchoked {
		return nil
	}
	return s.remote.Ranges()
}

func (s *peerState) bothSeeds() bool { return s.local.Full() && s.remote.Full() }
