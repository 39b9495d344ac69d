package peer

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
)

// Keep configures how long a node keeps complete transfers. The zero value keeps them until they are
// removed.
type Keep struct {
	// For is the time from the seed or the completion of a transfer to its end. 0 means no limit.
	For time.Duration
	// Disk limits the content that was fetched, in bytes: the oldest ends first. 0 means no limit.
	// It requires Delete.
	Disk int64
	// Delete deletes the files of a transfer that ends and was fetched, as [Node.Remove] does.
	// Seeded files are never deleted.
	Delete bool
}

const (
	// keepEvery is the time between two rounds of maintain.
	keepEvery = time.Minute
	// keepIdle is the minimum time between the last use of a transfer and its end.
	keepIdle = 10 * time.Minute
)

// SetKeep sets how long transfers are kept from now on.
func (n *Node) SetKeep(k Keep) { n.keep.Store(&k) }

// kept has the properties that decide how long a transfer is kept.
type kept struct {
	transfer *Transfer
	complete bool // and not permanent
	fetched  bool
	since    time.Time // when it was seeded, or complete
	number   int64     // grows with each completion, whatever the clock shows
	bytes    int64
	used     time.Time // last
	why      string    // why it ends
}

// ended returns the transfers that end now.
func (k Keep) ended(list []kept, now time.Time) (ends []kept) {
	slices.SortStableFunc(list, func(a, b kept) int {
		return cmp.Or(cmp.Compare(a.number, b.number), a.since.Compare(b.since))
	})
	var total int64
	for _, c := range list {
		if c.fetched {
			total += c.bytes
		}
	}
	for _, c := range list {
		switch {
		case !c.complete || now.Sub(c.used) < keepIdle:
			continue
		case k.For > 0 && now.Sub(c.since) >= k.For:
			c.why = fmt.Sprintf("kept for %v", k.For)
		case k.Disk > 0 && k.Delete && c.fetched && total > k.Disk:
			c.why = fmt.Sprintf("fetched files take %d bytes, and the limit is %d", total, k.Disk)
		default:
			continue
		}
		ends = append(ends, c)
		if c.fetched {
			total -= c.bytes
		}
	}
	return ends
}

// maintain compares complete transfers with the disk, and ends transfers, every keepEvery until the node closes.
func (n *Node) maintain() {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			Look(n.Transfers()...)
			n.endKept(now)
		case <-n.ctx.Done():
			return
		}
	}
}

// endKept ends the transfers that end now. It does not wait for their disks, which may hang.
func (n *Node) endKept(now time.Time) (ending *sync.WaitGroup) {
	keep, ending := *n.keep.Load(), new(sync.WaitGroup)
	if keep == (Keep{}) {
		return ending
	}
	var list []kept
	for _, t := range n.Transfers() {
		if t.dir != "" && len(t.ops.token) == 0 { // else it is ending, or is used
			list = append(list, keptOf(t, now))
		}
	}
	for _, e := range keep.ended(list, now) {
		if n.enter() != nil {
			break // the node closes
		}
		ending.Go(func() {
			defer n.wg.Done()
			e.end(now, keep.Delete && e.fetched)
		})
	}
	return ending
}

// end ends a transfer, unless it was used since.
func (k kept) end(now time.Time, deleted bool) {
	t, n := k.transfer, k.transfer.node
	log := t.log().With("path", t.state().rec.Root)
	left, err := n.remove(t, deleted, func() bool { return now.Sub(keptOf(t, now).used) >= keepIdle })
	switch {
	case err != nil:
		log.Error("content not ended", "error", err)
	case !n.transfers.has(t):
		log.Info("content ended", "why", k.why, "deleted", deleted, "left", len(left))
	}
}

// keptOf returns the properties of a transfer. One that served since the last call is in use.
func keptOf(t *Transfer, now time.Time) kept {
	s := t.state()
	k := kept{
		transfer: t, complete: s.rec.Whole && !s.rec.Permanent, fetched: !s.rec.Seed, since: keptSince(&s.rec), number: s.rec.Number,
		bytes: s.rec.Link.Length,
	}
	if m := s.desc.Manifest(); m != nil {
		k.bytes = m.Length() - s.rec.LeftOut.PieceBytes
	}
	var sent int64
	if s.swarm != nil {
		sum := s.swarm.Totals().Traffic
		sent = sum.WANOut + sum.LANOut
	}
	k.used = t.use.until(now, sent, s.phase == Checking || s.phase == Fetching)
	return k
}

// keptSince returns the start of the time that a transfer is kept: a completed one may be seeded again later.
func keptSince(r *metadata.Record) time.Time {
	if r.Completed.After(r.Added) {
		return r.Completed
	}
	return r.Added
}

// ends returns when the transfer ends, zero if it does not.
func (k *Keep) ends(r *metadata.Record) time.Time {
	if k.For == 0 || !r.Whole || r.Permanent {
		return time.Time{}
	}
	return keptSince(r).Add(k.For)
}

// use records when a transfer was used last.
type use struct {
	mu    sync.Mutex
	users int
	last  time.Time
	sent  int64 // bytes, at the last call of until
}

// start records a use, which ends with done.
func (u *use) start() (done func()) {
	u.add(1)
	return func() { u.add(-1) }
}

func (u *use) add(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users += n
	u.last = time.Now()
}

// until returns the time of the last use. A transfer is in use that is busy, or has sent more bytes than before.
func (u *use) until(now time.Time, sent int64, busy bool) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if sent != u.sent || u.users > 0 || busy {
		u.sent, u.last = sent, now
	}
	return u.last
}
