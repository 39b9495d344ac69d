package group

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// cast is a message to all members.
type cast struct {
	number   uint64
	cost     int // as in an inbox
	clusters map[string]*scatter
	waiting  map[proto.PeerID]bool // members that have not taken it
	start    time.Time
}

// scatter is how a message enters a cluster.
type scatter struct {
	parts Parcels        // for relays
	relay []proto.PeerID // of each part
	due   time.Time      // of a repair
}

// Cast sends a message to all members, into each cluster once. Clusters without a session with this node do not get it. It blocks
// while members have not taken 4 MiB of earlier messages. b must not change afterwards.
func (g *Group) Cast(ctx context.Context, b []byte) error {
	if len(b) > MaxMessage {
		return fmt.Errorf("message of %d bytes, at most %d", len(b), MaxMessage)
	}
	parcel := proto.Parcel{Sender: g.self, Flags: proto.ParcelRelay, Sum: sha256.Sum256(b)}
	c := &cast{clusters: map[string]*scatter{}, waiting: map[proto.PeerID]bool{}}
	c.cost = len(b) + (maxRelays+MaxMessage/proto.MaxParcel)*overhead
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.castCost+c.cost > window {
		if err := g.await(ctx, &g.changed); err != nil {
			return err
		}
	}
	if g.closing {
		return ErrClosed
	}
	g.lastCast++
	c.number, c.start, parcel.Number = g.lastCast, time.Now(), g.lastCast
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
		sc := &scatter{parts: cut(parcel, b, len(relays)), due: c.start.Add(heartbeat)}
		c.clusters[name] = sc
		for i := range sc.parts {
			m := relays[i%len(relays)]
			sc.relay = append(sc.relay, m.id)
			m.stream.send(&sc.parts[i])
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

// taken records that a member has all parts of a message to all members. The caller holds the lock.
func (g *Group) taken(m *member, number uint64) {
	if c := g.casts[number]; c != nil {
		delete(c.waiting, m.id)
		m.taken = time.Now()
		if sc := c.clusters[m.cluster]; sc != nil { // the relays have all parts
			sc.due = m.taken.Add(max(repairAfter, m.taken.Sub(c.start)))
		}
		g.settle(c)
	}
}

// settle forgets a cast message that no member waits for. The caller holds the lock.
func (g *Group) settle(c *cast) {
	if len(c.waiting) == 0 {
		delete(g.casts, c.number)
		g.castCost -= c.cost
		g.changed.fire()
	}
}

// reassign sends the parts that a lost member was to relay to another member of its cluster. The caller holds the lock.
func (g *Group) reassign(lost *member) {
	for _, number := range slices.Sorted(maps.Keys(g.casts)) {
		c := g.casts[number]
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
				heir.stream.send(&sc.parts[i])
			}
		}
		g.settle(c)
	}
}

// repairAfter is the least time between the last two members of a cluster that take a message before it is repaired. In a cluster where
// none takes it, that is a heartbeat.
const repairAfter = 2 * time.Second

// repair sends cast messages to members that have not taken them when they are due: a relay could not forward a part. The time
// since the cast doubles with each repair. It ends the sessions of members that take nothing, since they block Cast. The
// caller holds the lock.
func (g *Group) repair(now time.Time) {
	for _, number := range slices.Sorted(maps.Keys(g.casts)) {
		c := g.casts[number]
		for id := range c.waiting {
			if m := g.members[id]; now.Sub(c.start) >= takeTimeout && now.Sub(m.taken) >= takeTimeout {
				g.breakUp(m.stream)
			}
		}
		for name, sc := range c.clusters {
			if now.Before(sc.due) {
				continue
			}
			for id := range c.waiting {
				m := g.members[id]
				if m.cluster != name || len(m.stream.queue) > 0 {
					continue // if it has earlier parts to take, it is slow
				}
				sc.due = now.Add(now.Sub(c.start))
				for _, p := range sc.parts {
					p.Flags = 0
					m.stream.send(&p)
				}
			}
		}
	}
}

// Parcels are a message that is ready to be sent to single members.
type Parcels []proto.Parcel

// Pack makes a message of b and then rest, which must not change afterwards.
func Pack(b []byte, rest ...byte) (Parcels, error) {
	if n := len(b) + len(rest); n > MaxMessage {
		return nil, fmt.Errorf("message of %d bytes, at most %d", n, MaxMessage)
	}
	if len(b)+len(rest) > proto.MaxParcel {
		b, rest = slices.Concat(b, rest), nil
	}
	hash := sha256.New()
	hash.Write(b)
	hash.Write(rest)
	return cut(proto.Parcel{Sum: [sha256.Size]byte(hash.Sum(nil)), Rest: rest}, b, 1), nil
}

// A member cannot be reached if sendAttempts dials have failed. One dial may fail because both members dial each other
// at the same time, from the ports at which they listen.
const sendAttempts = 3

// Send sends a message to one member. It blocks while a session with the member is opened, which continues if ctx ends, and does not wait
// for the member to take the message: see [Group.Drain].
func (g *Group) Send(ctx context.Context, to libpeer.ID, b []byte) error {
	all, err := Pack(b)
	if err != nil {
		return err
	}
	return g.SendPacked(ctx, to, all)
}

// SendPacked is Send for a message that is sent to several members.
func (g *Group) SendPacked(ctx context.Context, to libpeer.ID, all Parcels) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for attempts := -1; ; {
		m := g.members[proto.PeerID(to)]
		switch {
		case g.closing:
			return ErrClosed
		case m == nil:
			return fmt.Errorf("send to %s: not a member of the group", to)
		case m.stream != nil:
			g.direct++
			for _, p := range all {
				p.Sender, p.Number = g.self, g.direct
				m.stream.direct = append(m.stream.direct, &p)
			}
			m.stream.notify()
			return nil
		case !m.dialing && attempts >= 0 && m.attempts >= attempts+sendAttempts:
			return fmt.Errorf("send to %s: the member cannot be reached", to)
		case attempts < 0:
			attempts = m.attempts
		}
		g.dial(m)
		if err := g.await(ctx, &g.changed); err != nil {
			return err
		}
	}
}
