package group

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// member is another member of the group.
type member struct {
	id      proto.PeerID
	cluster string // empty until it is known
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
		g.mu.Unlock()
		g.dialWanted()
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

// learn records a member. Of a member with a session it knows more. The caller holds the lock.
func (g *Group) learn(m *proto.Member) *member {
	known := g.members[m.ID]
	if m.ID == g.self || known != nil && known.stream != nil {
		return known
	}
	if known == nil {
		if len(g.members) >= maxMembers {
			return nil
		}
		known = &member{id: m.ID}
		g.members[m.ID] = known
	}
	known.addrs = m.Addrs
	if m.Cluster != "" {
		known.cluster = m.Cluster
	}
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

// dialWanted dials the wanted members without a session in the background.
func (g *Group) dialWanted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dialMissing(time.Now())
}

// dialMissing is dialWanted, and reports whether there are such members. The caller holds the lock.
func (g *Group) dialMissing(now time.Time) (missing bool) {
	if g.closing {
		return false
	}
	for _, id := range wanted(g.clusters(), g.cluster, g.self) {
		if m := g.members[id]; m.stream == nil {
			missing = true
			if !now.Before(m.retry) {
				g.dial(m)
			}
		}
	}
	return missing
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
		if err != nil && m.stream == nil && !errors.Is(err, errDuplicate) {
			m.backlog = nil
			m.retry = time.Now().Add(min(retryPause<<min(m.attempts, maxAttempts), maxRetryPause))
			if m.attempts++; m.attempts >= maxAttempts && g.members[m.id] == m {
				delete(g.members, m.id)
				g.regroup()
			}
		}
		g.changed.fire()
	})
}

const (
	// tickEvery is the time between checks for members to dial, and for silent ones, and idleTick that in a group in which every
	// wanted member has a session and no message waits for its receivers.
	tickEvery = 500 * time.Millisecond
	idleTick  = 3 * time.Second
	heartbeat = 15 * time.Second
	// silence is the time after which a session ends on which nothing arrives: three heartbeats.
	silence = 3 * heartbeat
	// takeTimeout bounds the time in which a member takes none of the sent messages to all members.
	takeTimeout = 4 * silence
)

// tick dials, sends heartbeats and repairs until the group ends.
func (g *Group) tick() {
	next, changed := time.Now().Add(tickEvery), (<-chan struct{})(nil)
	for {
		select {
		case <-changed:
			next, changed = time.Now().Add(tickEvery), nil
		case <-time.After(time.Until(next)):
			next, changed = g.check(time.Now())
		case <-g.ctx.Done():
			return
		}
	}
}

// check dials, sends heartbeats, ends silent sessions and repairs. It returns the time of the next check, and a channel that is
// closed by a change for which that is too late.
func (g *Group) check(now time.Time) (next time.Time, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	changed = g.changed.wait()
	missing := g.dialMissing(now)
	g.inbox.expire(now)
	if len(g.inbox.ready) > 0 {
		g.arrived.fire()
	}
	next = now.Add(idleTick)
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
		for _, due := range []time.Time{s.lastPing.Add(heartbeat), s.lastRead.Add(silence)} {
			if due.Before(next) {
				next = due
			}
		}
	}
	g.repair(now)
	if soon := now.Add(tickEvery); missing || len(g.casts) > 0 || !next.After(soon) {
		return soon, nil
	}
	return next, changed
}
