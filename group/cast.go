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

// sent is a message that was sent and not taken.
type sent struct {
	number uint64
	cost   int // as in an inbox
}

// cast is a message to all members.
type cast struct {
	sent
	sum      [sha256.Size]byte
	clusters map[string]*scatter
	waiting  map[proto.PeerID]bool // members that have not taken it
	start    time.Time
	active   time.Time // the last time that something was sent or taken
}

// parcel returns a part of the message.
func (c *cast) parcel(self proto.PeerID, parts [][]byte, i int, flags uint8) *proto.Parcel {
	return &proto.Parcel{
		Sender: self, Number: c.number, Part: uint16(i), Parts: uint16(len(parts)), Flags: flags, Sum: c.sum, Payload: parts[i],
	}
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
	c := &cast{sum: sum(b), clusters: map[string]*scatter{}, waiting: map[proto.PeerID]bool{}}
	c.cost = len(b) + (maxRelays+MaxMessage/proto.MaxParcel)*overhead
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
	c.active = c.start
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
		sc := &scatter{parts: cut(b, len(relays))}
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

// forward forwards a part within the cluster: as a relay, or to the members of a large cluster. It drops the part for a member whose
// queue is full, and the sender sends it again. The caller holds the lock.
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

// taken records that a member has all parts of a message. The caller holds the lock.
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
		c.active = time.Now()
		m.taken = c.active
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

// repair sends cast messages to members that have not taken them, if they were idle for a heartbeat: a relay could not
// forward a part. It ends the sessions of members that take nothing, since they block Cast. The caller holds the
// lock.
func (g *Group) repair(now time.Time) {
	for _, c := range g.ordered() {
		for id := range c.waiting {
			if m := g.members[id]; now.Sub(c.start) >= takeTimeout && now.Sub(m.taken) >= takeTimeout {
				g.breakUp(m.stream)
			}
		}
		if now.Sub(c.active) < heartbeat {
			continue
		}
		for id := range c.waiting {
			m := g.members[id]
			sc := c.clusters[m.cluster]
			if sc == nil || len(m.stream.queue) > 0 {
				continue // it is slow, and has earlier parts to take
			}
			c.active = now
			for i := range sc.parts {
				m.stream.send(c.parcel(g.self, sc.parts, i, 0))
			}
		}
	}
}

// Send sends a message to one member: b and then rest. It blocks while the member has not taken 4 MiB of earlier messages, and
// while a session with it is opened. The bytes must not change afterwards.
func (g *Group) Send(ctx context.Context, to libpeer.ID, b []byte, rest ...byte) error {
	if n := len(b) + len(rest); n > MaxMessage {
		return fmt.Errorf("message of %d bytes, at most %d", n, MaxMessage)
	}
	if len(b)+len(rest) > proto.MaxParcel {
		b, rest = slices.Concat(b, rest), nil
	}
	parts := cut(b, 1)
	msg := &sent{cost: len(b) + len(rest) + len(parts)*overhead}
	hash := sha256.New()
	hash.Write(b)
	hash.Write(rest)
	p := proto.Parcel{Sender: g.self, Parts: uint16(len(parts)), Rest: rest}
	hash.Sum(p.Sum[:0])
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
			msg.number, p.Number = g.direct, g.direct
			m.sent = append(m.sent, msg)
			m.sentCost += msg.cost
			for i, payload := range parts {
				part := p
				part.Part, part.Payload = uint16(i), payload
				m.stream.send(&part)
			}
			return nil
		}
		if err := g.await(ctx, &g.changed); err != nil {
			return err
		}
	}
}
