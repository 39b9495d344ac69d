package group

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// member is another member of the group.
type member struct {
	id      proto.PeerID
	cluster string
	addrs   [][]byte
	stream  *stream // nil without a session
	rtt     time.Duration

	dialing  bool
	attempts int       // failed dials since the last session
	retry    time.Time // of the next dial

	backlog []*proto.Parcel // parts to forward to it once there is a session

	taken time.Time // when it took a message to all members
}

const (
	announceRetry = 2 * time.Second
	leaveTimeout  = time.Second
	// retryPause is the time between dials of a member. It doubles with each up to maxRetryPause.
	retryPause    = 500 * time.Millisecond
	maxRetryPause = 30 * time.Second
	// maxAttempts is the number of failed dials after which a member is forgotten, until a tracker names it again.
	maxAttempts = 8
)

// announce announces the node to trackers until the group ends, and learns the members in their replies.
func (g *Group) announce() {
	for {
		members, pause, err := g.link.Announce(g.ctx, false)
		if err != nil {
			pause = announceRetry
		}
		g.mu.Lock()
		for i := range members {
			g.learn(&members[i])
		}
		g.dialWanted()
		g.mu.Unlock()
		select {
		case <-time.After(max(pause, time.Second)):
		case <-g.ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), leaveTimeout)
			defer cancel()
			_, _, _ = g.link.Announce(ctx, true)
			return
		}
	}
}

// learn records a member, and returns nil if there is no room. Of a member with a session it knows more. If there are too many it forgets
// those without a session, which may have left: trackers name them again otherwise. The caller holds the lock.
func (g *Group) learn(m *proto.Member) *member {
	known := g.members[m.ID]
	if m.ID == g.self || known != nil && known.stream != nil {
		return known
	}
	if known == nil {
		if len(g.members) >= maxMembers {
			maps.DeleteFunc(g.members, func(_ proto.PeerID, m *member) bool { return m.stream == nil && !m.dialing })
		}
		if len(g.members) >= maxMembers {
			return nil
		}
		known = &member{id: m.ID}
		g.members[m.ID] = known
	}
	known.addrs, known.cluster = m.Addrs, m.Cluster
	g.regroup()
	return known
}

// regroup records that the members have changed. The caller holds the lock.
func (g *Group) regroup() {
	g.layout = nil
	g.changed.fire()
}

// clusters returns the sorted members of each cluster, with this node. The caller holds the lock.
func (g *Group) clusters() map[string][]proto.PeerID {
	if g.layout != nil {
		return g.layout
	}
	g.layout = map[string][]proto.PeerID{g.cluster: {g.self}}
	for id, m := range g.members {
		g.layout[m.cluster] = append(g.layout[m.cluster], id)
	}
	for _, ids := range g.layout {
		slices.Sort(ids)
	}
	return g.layout
}

// dialWanted dials the wanted members without a session in the background, except for those whose last dial has just failed. The caller
// holds the lock.
func (g *Group) dialWanted() {
	for _, id := range wanted(g.clusters(), g.cluster, g.self) {
		if m := g.members[id]; m.stream == nil && !time.Now().Before(m.retry) {
			g.dial(m)
		}
	}
}

// retry makes a member be dialed again after a time. The caller holds the lock.
func (g *Group) retry(m *member, after time.Duration) {
	m.retry = time.Now().Add(after)
	time.AfterFunc(after, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.dialWanted()
	})
}

// dial dials a member in the background, unless that is in progress. The caller holds the lock.
func (g *Group) dial(m *member) {
	if m.dialing || g.closing {
		return
	}
	m.dialing = true
	addrs := m.addrs
	g.wg.Go(func() {
		err := g.connect(m.id, addrs)
		if errors.Is(err, errDuplicate) { // the peer's stream arrives, or it does not know yet that one has ended
			select {
			case <-time.After(retryPause):
			case <-g.ctx.Done():
			}
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		m.dialing = false
		switch {
		case err == nil || m.stream != nil:
		case errors.Is(err, errDuplicate):
			g.retry(m, 0)
		default:
			m.backlog = nil
			g.retry(m, min(retryPause<<min(m.attempts, maxAttempts), maxRetryPause))
			if m.attempts++; m.attempts >= maxAttempts && g.members[m.id] == m {
				delete(g.members, m.id)
				g.regroup()
			}
		}
		g.changed.fire()
	})
}

const (
	// tickEvery is the time between checks of sessions.
	tickEvery = 3 * time.Second
	heartbeat = 15 * time.Second
	// silence is the time after which a session ends on which nothing arrives: three heartbeats.
	silence = 3 * heartbeat
	// takeTimeout bounds the time in which a member takes none of the sent messages to all members.
	takeTimeout = 4 * silence
)

// tick checks sessions until the group ends. It does so at multiples of tickEvery, so that a node wakes up once for all its groups.
func (g *Group) tick() {
	for {
		now := time.Now()
		select {
		case <-time.After(now.Truncate(tickEvery).Add(tickEvery).Sub(now)):
			g.check(time.Now())
		case <-g.ctx.Done():
			return
		}
	}
}

// check sends heartbeats, ends silent sessions, dials and repairs.
func (g *Group) check(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inbox.expire(now)
	if len(g.inbox.ready) > 0 {
		g.arrived.fire()
	}
	for _, m := range g.members {
		s := m.stream
		if s == nil {
			continue
		}
		if now.Sub(s.lastPing) >= heartbeat {
			s.lastPing = now
			s.control(&proto.Ping{Nonce: uint64(now.UnixMicro())})
		}
		if !s.blocked && now.Sub(s.lastRead) >= silence {
			g.breakUp(s)
		}
	}
	g.dialWanted()
	g.repair(now)
}
