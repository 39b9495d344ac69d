package group

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// message is a message that was sent and not taken.
type message struct {
	number uint64
	sum    [sha256.Size]byte
	bytes  []byte
	cost   int // as in an inbox
}

// parcel returns a part of the message.
func (m *message) parcel(self proto.PeerID, parts [][]byte, i int, flags uint8) *proto.Parcel {
	return &proto.Parcel{
		Sender: self, Number: m.number, Part: uint16(i), Parts: uint16(len(parts)), Flags: flags, Sum: m.sum, Payload: parts[i],
	}
}

func costOf(b []byte, parts int) int { return len(b) + parts*overhead }

// cast is a message to all members.
type cast struct {
	message
	clusters map[string]*scatter
	waiting  map[proto.PeerID]bool // members that have not taken it
	start    time.Time
	sent     time.Time // the last time that something was sent or taken
}

// scatter is how a message enters a cluster.
type scatter struct {
	parts [][]byte
	relay []proto.PeerID // of each part
}

// Cast sends a message to all members, into each cluster once. It blocks while members have not taken 4 MiB of earlier
// messages. b must not change afterwards.
func (g *Group) Cast(ctx context.Context, b []byte) error {
	if len(b) > MaxMessage {
		return fmt.Errorf("message of %d bytes, at most %d", len(b), MaxMessage)
	}
	c := &cast{message: message{sum: sum(b), bytes: b}, clusters: map[string]*scatter{}, waiting: map[proto.PeerID]bool{}}
	c.cost = costOf(b, maxRelays+MaxMessage/proto.MaxParcel)
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.castCost+c.cost > window {
		if err := g.await(ctx, &g.changed); err != nil {
			return err
		}
	}
	if g.closing {
		return errClosed
	}
	g.lastCast++
	c.number, c.start = g.lastCast, time.Now()
	c.sent = c.start
	for name, ids := range g.clusters() {
		var relays []*member
		for _, id := range ids {
			if m := g.members[id]; m != nil && m.stream != nil { // not this node
				c.waiting[id] = true
				relays = append(relays, m)
			}
		}
		if len(relays) == 0 {
			continue
		}
		relays = relays[:min(len(relays), maxRelays)]
		sc := &scatter{parts: cut(c.bytes, len(relays))}
		c.clusters[name] = sc
		for i := range sc.parts {
			m := relays[i%len(relays)]
			sc.relay = append(sc.relay, m.id)
			m.stream.send(c.parcel(g.self, sc.parts, i, proto.ParcelRelay))
		}
	}
	if len(c.waiting) > 0 {
		g.casts[c.number] = c
		g.castCost += c.cost
	}
	return nil
}

// forward forwards a part within the cluster, if this node is one that does. What a member is too slow for is dropped: the
// sender sends it again. The caller holds the lock.
func (g *Group) forward(p *proto.Parcel) {
	flagged := p.Flags&proto.ParcelRelay != 0
	if !flagged && len(g.clusters()[g.cluster]) <= maxDense {
		return
	}
	plain := *p
	plain.Flags = 0
	for _, id := range forwards(g.clusters()[g.cluster], g.self, p.Sender, flagged) {
		switch m := g.members[id]; {
		case m.stream != nil && m.stream.queued < maxHeld:
			m.stream.send(&plain)
		case m.stream == nil && m.attempts == 0 && len(m.backlog) < maxBacklog:
			m.backlog = append(m.backlog, &plain)
			if time.Now().After(m.retry) {
				g.dial(m)
			}
		}
	}
}

// maxBacklog bounds the parts that wait for the first dial of a member.
const maxBacklog = 64

// taken notes that a member has all parts of a message. The caller holds the lock.
func (g *Group) taken(m *member, number uint64) {
	if kindOf(number) == 1 {
		for i, sent := range m.sent {
			if sent.number == number {
				m.sentCost -= sent.cost
				m.sent = slices.Delete(m.sent, i, i+1)
				g.changed.fire()
				return
			}
		}
		return
	}
	if c := g.casts[number]; c != nil {
		delete(c.waiting, m.id)
		c.sent = time.Now()
		m.taken = c.sent
		g.settle(c)
	}
}

// settle forgets a cast message that no member waits for. The caller holds the lock.
func (g *Group) settle(c *cast) {
	if len(c.waiting) == 0 && g.casts[c.number] == c {
		delete(g.casts, c.number)
		g.castCost -= c.cost
		g.changed.fire()
	}
}

// reassign sends the parts that a lost member was to relay to another member of its cluster. The caller holds the lock.
func (g *Group) reassign(lost *member) {
	for _, c := range g.ordered() {
		delete(c.waiting, lost.id)
		sc := c.clusters[lost.cluster]
		if sc == nil {
			continue
		}
		var heir *member
		for _, id := range g.clusters()[lost.cluster] {
			if m := g.members[id]; m != nil && m.stream != nil && (heir == nil || c.waiting[id] && !c.waiting[heir.id]) {
				heir = m
			}
		}
		for i, id := range sc.relay {
			if id == lost.id && heir != nil {
				sc.relay[i] = heir.id
				heir.stream.send(c.parcel(g.self, sc.parts, i, proto.ParcelRelay))
			}
		}
		g.settle(c)
	}
}

// ordered returns the cast messages that some member has not taken, in order. The caller holds the lock.
func (g *Group) ordered() (all []*cast) {
	for _, c := range g.casts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *cast) int { return int(int64(a.number - b.number)) })
	return all
}

// repair sends cast messages to members that have not taken them, if nothing was sent or taken for a heartbeat: a relay
// could not forward a part. It ends the sessions of members that take nothing, since they block Cast. The caller holds the
// lock.
func (g *Group) repair(now time.Time) {
	for _, c := range g.ordered() {
		for id := range c.waiting {
			if m := g.members[id]; now.Sub(c.start) >= takeTimeout && now.Sub(m.taken) >= takeTimeout {
				g.breakUp(m.stream)
			}
		}
		if now.Sub(c.sent) < heartbeat {
			continue
		}
		for id := range c.waiting {
			m := g.members[id]
			sc := c.clusters[m.cluster]
			if sc == nil || len(m.stream.queue) > 0 {
				continue // it is slow, and has earlier parts to take
			}
			c.sent = now
			for i := range sc.parts {
				m.stream.send(c.parcel(g.self, sc.parts, i, 0))
			}
		}
	}
}

// Send sends a message to one member. It blocks while the member has not taken 4 MiB of earlier messages, and while
// a session with it is opened. b must not change afterwards.
func (g *Group) Send(ctx context.Context, to libpeer.ID, b []byte) error {
	if len(b) > MaxMessage {
		return fmt.Errorf("message of %d bytes, at most %d", len(b), MaxMessage)
	}
	msg := &message{sum: sum(b), bytes: b, cost: costOf(b, len(cut(b, 1)))}
	g.mu.Lock()
	defer g.mu.Unlock()
	attempts := -1
	for {
		m := g.members[proto.PeerID(to)]
		switch {
		case g.closing:
			return errClosed
		case m == nil:
			return fmt.Errorf("send to %s: not a member of the group", to)
		case m.stream == nil && !m.dialing && attempts >= 0 && m.attempts > attempts:
			return fmt.Errorf("send to %s: the member cannot be reached", to)
		case m.stream == nil:
			if attempts < 0 {
				attempts = m.attempts
			}
			g.dial(m)
		case m.sentCost+msg.cost <= window:
			g.direct++
			msg.number = g.direct
			m.sent = append(m.sent, msg)
			m.sentCost += msg.cost
			g.sendParts(m, msg)
			return nil
		}
		if err := g.await(ctx, &g.changed); err != nil {
			return err
		}
	}
}

// sendParts queues a message to one member. The caller holds the lock.
func (g *Group) sendParts(m *member, msg *message) {
	parts := cut(msg.bytes, 1)
	for i := range parts {
		m.stream.send(msg.parcel(g.self, parts, i, 0))
	}
}
