package avail

import (
	"cmp"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/mob/timer"
	"github.com/mobgrid/mob/proto"
)

// Update is a kind of announcement of a piece.
type Update uint8

// The announcements.
const (
	Have  Update = iota // it is stored
	Claim               // it is requested from outside of a group, or of the only member that has it
	Drop                // neither any more
)

// Batching has the constants of batches.
type Batching struct {
	// Batch is the least time between two batches of haves and claims to a peer. Claims go to local peers
	// immediately. LazyBatch is the same, times the number of peers, for updates that no peer waits for.
	Batch, LazyBatch time.Duration
}

// Outbox has the announcements for a peer.
type Outbox struct {
	Subscribed *bitset.Set // by the peer

	id      proto.PeerID
	to      *Offers // of the peer
	home    *Counts // of the innermost group that the peer and the node are in, nil if it is of another site
	pending proto.Have
	due     bool // a Have is due, even an empty one
	urgent  bool // some of pending is
	listed  bool // in Batches
	sent    time.Time
	wanted  bool // the peer has sent a Want
	early   int  // haves that did not wait for a batch
	slow    int  // the last count of slow pieces that was sent
}

// maxEarly is the number of haves that do not wait for a batch, to a remote peer that fetches from the node. With
// fewer pieces to choose from, its link may be idle.
const maxEarly = 32

// NewOutbox returns the outbox for a peer that subscribed to nothing.
func NewOutbox(id proto.PeerID, to *Offers, home *Counts, pieces int) Outbox {
	return Outbox{id: id, to: to, home: home, Subscribed: bitset.New(pieces)}
}

// Idle reports whether the peer has sent a Want, and is subscribed to nothing.
func (o *Outbox) Idle() bool { return o.wanted && o.Subscribed.Len() == 0 }

// Early reports whether a have is one of the first, which do not wait for a batch.
func (o *Outbox) Early() bool {
	if o.early >= maxEarly {
		return false
	}
	o.early++
	return true
}

// Take returns the pending announcements, nil if there are none.
func (o *Outbox) Take(now time.Time) *proto.Have {
	if !o.due {
		return nil
	}
	m := o.pending
	o.sent = now
	if o.home != nil {
		o.slow = o.home.Slow
		m.Left = uint32(o.slow)
	}
	o.pending, o.due, o.urgent = proto.Have{}, false, false
	return &m
}

// Answer is Take after a Want of the peer. It returns an empty message if there is none.
func (o *Outbox) Answer(now time.Time) *proto.Have {
	o.wanted, o.due = true, true
	return o.Take(now)
}

func (o *Outbox) ranges() int {
	return len(o.pending.Have) + len(o.pending.Claim) + len(o.pending.Drop)
}

// prune removes the haves that a peer of the site has got meanwhile, and reports whether anything is left.
func (o *Outbox) prune() bool {
	if o.home != nil {
		old := o.pending.Have
		o.pending.Have = nil
		for i := range bitset.Numbers(old, o.to.Have.Cap()) {
			if !o.to.Have.Has(i) {
				o.pending.Have = bitset.Append(o.pending.Have, i)
			}
		}
	}
	if o.ranges() == 0 && (o.home == nil || o.slow == o.home.Slow) {
		o.due = false
	}
	return o.due
}

// Batches schedules the announcements for all peers.
type Batches struct {
	Pace time.Duration // least time between two messages to a peer of another site

	set    *Batching
	site   *roster.Group
	listed []*Outbox
	sent   time.Time // the last batch
	due    *timer.Table
	began  time.Time     // when the first piece was stored
	stored int           // pieces since then
	lazy   time.Duration // how long updates may wait that no peer waits for
}

// NewBatches returns the batches of a node in a site.
func NewBatches(set *Batching, site *roster.Group, due *timer.Table) Batches {
	return Batches{set: set, site: site, due: due}
}

// Delay returns the least time between two batches. Where machines are busy no peer acts on a batch sooner than
// claims arrive, and each message costs them more.
func (b *Batches) Delay() time.Duration { return max(b.set.Batch, b.site.ClaimDelay()) }

// Stored records that a node with some peers has stored a piece, and that some are missing. Updates that no peer waits for cost a
// message to each peer, so they wait longer the more peers there are. At the start and at the end peers have few pieces to request,
// so updates wait for a part of the time since the start and of the time left at most.
func (b *Batches) Stored(now time.Time, peers, missing int) {
	if b.stored == 0 {
		b.began = now
	}
	b.stored++
	took := now.Sub(b.began)
	left := took / time.Duration(b.stored) * time.Duration(missing)
	b.lazy = min(time.Duration(peers)*b.set.LazyBatch, took/lazyPart, left/lazyPart)
}

// lazyPart is the part of these times.
const lazyPart = 4

// Add adds an update for a peer to the next batch, unless the peer has the piece. It returns batches
// that are full, or that must be sent before.
func (b *Batches) Add(o *Outbox, i int, u Update, urgent bool, now time.Time) (full []*proto.Have) {
	switch {
	case u == Drop:
		if len(o.pending.Have)+len(o.pending.Claim) > 0 {
			full = append(full, o.Take(now)) // a receiver handles the drops of a message first
		}
		o.pending.Drop = bitset.Append(o.pending.Drop, i)
	case o.to.Have.Has(i):
		return nil
	case u == Have:
		o.pending.Have = bitset.Append(o.pending.Have, i)
	default:
		o.pending.Claim = bitset.Append(o.pending.Claim, i)
	}
	b.Schedule(o, urgent)
	if o.ranges() >= proto.MaxRanges/2 {
		full = append(full, o.Take(now))
	}
	return full
}

// Repeat announces a piece to a peer that announced it too.
func (b *Batches) Repeat(o *Outbox, i int) {
	o.pending.Have = bitset.Append(o.pending.Have, i)
	b.Schedule(o, true)
}

// Schedule has the next batch go to a peer. Updates that are not urgent may wait.
func (b *Batches) Schedule(o *Outbox, urgent bool) {
	o.due = true
	if !o.listed {
		o.listed = true
		b.listed = append(b.listed, o)
	}
	switch {
	case urgent:
		o.urgent = true
		if b.due[timer.Urgent].IsZero() {
			b.due[timer.Urgent] = b.sent.Add(b.Delay())
		}
	case b.due[timer.Lazy].IsZero():
		b.due[timer.Lazy] = b.sent.Add(max(b.Delay(), b.lazy))
	}
}

// Remove removes the outbox of a peer that left.
func (b *Batches) Remove(o *Outbox) {
	b.listed = slices.DeleteFunc(b.listed, func(other *Outbox) bool { return other == o })
}

// Flush sends the batches that are due, in the order of the peers' IDs.
func (b *Batches) Flush(now time.Time, send func(to proto.PeerID, m *proto.Have)) {
	urgent, lazy := b.due.Expired(timer.Urgent, now), b.due.Expired(timer.Lazy, now)
	if !urgent && !lazy {
		return
	}
	b.sent = now
	slices.SortFunc(b.listed, func(o, p *Outbox) int { return cmp.Compare(o.id, p.id) })
	left := b.listed[:0]
	for _, o := range b.listed {
		switch at := o.sent.Add(b.Pace); {
		case !lazy && !o.urgent:
			left = append(left, o)
			continue
		case o.home == nil && now.Before(at):
			left = append(left, o)
			b.due.Sooner(timer.Urgent, at)
			continue
		}
		o.listed, o.urgent = false, false
		if o.prune() {
			send(o.id, o.Take(now))
		}
	}
	clear(b.listed[len(left):])
	b.listed = left
}
