package stream

import (
	"context"
	"sync"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const (
	// announceFirst is the pause after the first announce. It doubles, up to what the tracker asks
	// for: members come in the first seconds.
	announceFirst = time.Second
	// announceTimeout bounds an announce.
	announceTimeout = 5 * time.Second
	// leaveTimeout bounds the announce that the node leaves.
	leaveTimeout = time.Second
	// refresh is how often the swarm of a segment looks for new members.
	refresh = 2 * time.Second
)

// members finds the members of a stream for the swarms of its segments. It announces the node under the
// key of the stream, so a segment costs no announce, and its swarm begins with the members that are
// known. It implements [peer.Finder].
type members struct {
	finder   peer.Finder
	announce proto.Announce
	known    chan struct{} // closed with the first answer

	mu     sync.Mutex
	list   []proto.Member
	absent map[string]int // in how many segments in a row a member took no part, by its id as text
}

// newMembers returns the members of the stream with that key, as a node finds them.
func newMembers(n *peer.Node, f peer.Finder, key []byte) *members {
	m := &members{finder: f, known: make(chan struct{}), absent: map[string]int{}}
	m.announce = proto.Announce{Swarm: key, Cluster: n.Cluster()}
	for _, a := range n.Addrs() {
		if at, _ := libpeer.SplitAddr(a); at != nil && len(at.Bytes()) <= proto.MaxAddr {
			m.announce.Addrs = append(m.announce.Addrs, at.Bytes())
		}
	}
	return m
}

// run announces the node until ctx ends, and then that it leaves.
func (m *members) run(ctx context.Context) {
	pause := announceFirst
	for {
		if interval, err := m.ask(ctx, announceTimeout, false); err == nil {
			pause = min(2*pause, interval)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			_, _ = m.ask(context.WithoutCancel(ctx), leaveTimeout, true)
			return
		}
	}
}

// ask announces the node, and returns when to do so again.
func (m *members) ask(ctx context.Context, timeout time.Duration, leaving bool) (interval time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a := m.announce
	a.Leaving = leaving
	h, err := m.finder.Announce(ctx, &a)
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list == nil {
		close(m.known)
	}
	m.list = append([]proto.Member{}, h.Members...)
	return max(time.Duration(h.Interval)*time.Second, announceFirst), nil
}

// Announce implements [peer.Finder] for the swarm of a segment.
func (m *members) Announce(ctx context.Context, a *proto.Announce) (*proto.Handout, error) {
	h := &proto.Handout{Interval: uint32(refresh / time.Second)}
	if a.Leaving {
		return h, nil
	}
	select {
	case <-m.known:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, member := range m.list {
		if m.absent[libpeer.ID(member.ID).String()] < maxAbsent {
			h.Members = append(h.Members, member)
		}
	}
	return h, nil
}

const (
	// patience is how long a member may take to answer at the begin of a segment. In a segment that took
	// as long all others have.
	patience = time.Second
	// maxAbsent is in how many such segments in a row a member takes no part before it is left out, such
	// as one that hangs. It may still dial, and is tried again after retryAbsent of them.
	maxAbsent   = 2
	retryAbsent = 30
)

// took notes who took part in a segment that took a time.
func (m *members) took(d time.Duration, peers []peer.PeerStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	present := make(map[string]bool, len(peers))
	for i := range peers {
		present[peers[i].ID] = true
		delete(m.absent, peers[i].ID)
	}
	if d < patience {
		return
	}
	for _, member := range m.list {
		id := libpeer.ID(member.ID).String()
		switch {
		case present[id]:
		case m.absent[id] >= maxAbsent+retryAbsent:
			m.absent[id] = maxAbsent - 1
		default:
			m.absent[id]++
		}
	}
}

// count returns how many other members there are.
func (m *members) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.list)
}

// Close implements [peer.Finder].
func (m *members) Close() error { return nil }

// nobody is a [peer.Finder] that finds nobody: the sender waits to be dialled.
type nobody struct{}

// Announce implements [peer.Finder].
func (nobody) Announce(context.Context, *proto.Announce) (*proto.Handout, error) {
	return &proto.Handout{Interval: uint32(time.Hour / time.Second)}, nil
}

// Close implements [peer.Finder].
func (nobody) Close() error { return nil }
