package assign

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/proto"
)

// Member is a joined peer that is a host of the plan. A nil Member is a peer that is not.
type Member struct {
	ID     proto.PeerID
	host   int
	shared int // parts of the cluster's name that it shares with the node
	peer   *conduct.Peer
	late   bool      // it got no new piece for some time
	newsAt time.Time // it got a new piece
	news   conduct.Answers
}

// Join records a peer that joined under the name of a host, nil if the plan has no such host. Of several peers
// with one name, the first is the host.
func (a *Assignment) Join(host string, id proto.PeerID, shared int, p *conduct.Peer, now time.Time) *Member {
	h, ok := a.numbers[host]
	if !ok {
		return nil
	}
	m := &Member{ID: id, host: h, shared: shared, peer: p, newsAt: now}
	a.members[h] = append(a.members[h], m)
	return m
}

// Leave removes a member. It returns the peer that replaces it as the host, nil if there is none.
func (a *Assignment) Leave(m *Member) (next *Member) {
	if m == nil {
		return nil
	}
	was := a.at(m.host)
	a.members[m.host] = slices.DeleteFunc(a.members[m.host], func(n *Member) bool { return n == m })
	if was != m {
		return nil
	}
	return a.at(m.host)
}

// at returns the peer that is a host, nil if none has joined.
func (a *Assignment) at(host int) *Member {
	if len(a.members[host]) == 0 {
		return nil
	}
	return a.members[host][0]
}

// IsParent reports whether a member sends to the node.
func (a *Assignment) IsParent(m *Member) bool {
	return m != nil && a.at(m.host) == m && slices.Contains(a.parents, m.host)
}

// AddNews records that a member got a piece.
func (m *Member) AddNews(now time.Time) {
	if m == nil {
		return
	}
	if since := now.Sub(m.newsAt); since > 0 {
		m.news.Add(since)
	}
	m.newsAt, m.late = now, false
}

// Learn records the node of a host that another node named, and reports whether it is a neighbor.
func (a *Assignment) Learn(host string, id proto.PeerID) bool {
	if !a.isNeighbor(host) {
		return false
	}
	a.named[a.numbers[host]] = id
	return true
}

func (a *Assignment) isNeighbor(host string) bool {
	h, ok := a.numbers[host]
	return ok && slices.Contains(a.neighbors, h)
}

// Missing returns the nodes of neighbors that have not joined.
func (a *Assignment) Missing() (ids []proto.PeerID) {
	for _, h := range a.neighbors {
		if a.at(h) == nil && a.named[h] != "" {
			ids = append(ids, a.named[h])
		}
	}
	return ids
}

// Seeks reports whether a host is a neighbor that has not joined.
func (a *Assignment) Seeks(host string) bool {
	return a.isNeighbor(host) && a.at(a.numbers[host]) == nil
}

// Neighbors returns the joined neighbors of a member.
func (a *Assignment) Neighbors(of *Member) (ids []proto.PeerID) {
	if of == nil {
		return nil
	}
	for _, h := range a.plan.Neighbors(of.host) {
		if m := a.at(h); m != nil && m != of {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
