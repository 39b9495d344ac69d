package peer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
)

// Keep says how long a node keeps whole contents. The zero value keeps them until they are
// removed.
type Keep struct {
	// For is how long a content is kept after it was seeded or was whole. 0 is for ever.
	For time.Duration
	// Disk bounds the contents that were fetched, in bytes: the oldest end first. 0 is no bound.
	// It needs Delete.
	Disk int64
	// Delete deletes the files of a content that ends and was fetched, as [Node.Remove] does.
	// Otherwise only the transfer ends. Seeded files are never deleted.
	Delete bool
}

const (
	// keepEvery is the time between two calls of everyMinute.
	keepEvery = time.Minute
	// keepIdle is how long nobody may have used a content that ends.
	keepIdle = 10 * time.Minute
)

// SetKeep sets how long contents are kept from now on.
func (n *Node) SetKeep(k Keep) { n.keeper.keep.Store(&k) }

// keeper does what is due every minute at a node.
type keeper struct {
	node *Node
	keep atomic.Pointer[Keep]
}

// kept is what counts of a transfer for how long it is kept.
type kept struct {
	transfer *Transfer
	whole    bool
	fetched  bool
	since    time.Time // when it was seeded, or was whole
	number   int64     // grows with each content that was whole, whatever the clock says
	bytes    int64
	used     time.Time // when somebody used it last
}

// ending is a content that ends, and why.
type ending struct {
	kept
	why string
}

// ended returns which contents end now.
func (k Keep) ended(list []kept, now time.Time) (ends []ending) {
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
		if !c.whole || now.Sub(c.used) < keepIdle {
			continue
		}
		why := ""
		switch {
		case k.For > 0 && now.Sub(c.since) >= k.For:
			why = fmt.Sprintf("kept for %v", k.For)
		case k.Disk > 0 && k.Delete && c.fetched && total > k.Disk:
			why = fmt.Sprintf("fetched contents take %d bytes, %d are for them", total, k.Disk)
		default:
			continue
		}
		ends = append(ends, ending{c, why})
		if c.fetched {
			total -= c.bytes
		}
	}
	return ends
}

// run compares complete transfers with the disk, and ends contents, until ctx ends.
func (k *keeper) run(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			k.everyMinute(now)
		case <-ctx.Done():
			return
		}
	}
}

// everyMinute does what is due every minute.
func (k *keeper) everyMinute(now time.Time) {
	Look(k.node.Transfers()...)
	k.endAll(now)
}

// endAll ends the contents that end now.
func (k *keeper) endAll(now time.Time) {
	keep := k.keep.Load()
	if *keep == (Keep{}) {
		return
	}
	var list []kept
	for _, t := range k.node.Transfers() {
		if t.dir != "" {
			list = append(list, t.kept(now))
		}
	}
	for _, e := range keep.ended(list, now) {
		k.end(e, keep.Delete, now)
	}
}

// end ends a content, unless it is used meanwhile.
func (k *keeper) end(e ending, deleteContent bool, now time.Time) {
	t, log := e.transfer, k.node.log
	deleteContent = deleteContent && e.fetched
	id, root := t.ID.String(), t.state().rec.Root
	left, err := k.node.remove(t, deleteContent, func() bool { return now.Sub(t.kept(now).used) >= keepIdle })
	switch {
	case err != nil:
		log.Error("content not ended", "content", id, "path", root, "error", err)
	case !k.node.transfers.has(t):
		log.Info("content ended", "content", id, "path", root, "why", e.why, "deleted", deleteContent, "left", len(left))
	}
}

// kept returns what decides how long the transfer is kept. A transfer that served since the last call is in use.
func (t *Transfer) kept(now time.Time) kept {
	s := t.state()
	k := kept{
		transfer: t, whole: s.rec.Whole, fetched: !s.rec.Seed, since: keptSince(&s.rec), number: s.rec.Number,
		bytes: s.rec.Link.Length,
	}
	if m := s.desc.Manifest(); m != nil {
		k.bytes = m.Length()
	}
	var sent int64
	if s.swarm != nil {
		sum := s.swarm.Totals().Traffic
		sent = sum.WANOut + sum.LANOut
	}
	k.used = t.use.until(now, sent, s.phase == Checking || s.phase == Fetching)
	return k
}

// keptSince returns the time from which the content is kept. A transfer of an earlier version does not know
// when it was complete.
func keptSince(r *metadata.Record) time.Time {
	if r.Completed.After(r.Added) {
		return r.Completed
	}
	return r.Added
}

// ends returns when the transfer ends, zero if it does not.
func (k *keeper) ends(r *metadata.Record) time.Time {
	keep := k.keep.Load()
	if keep.For == 0 || !r.Whole {
		return time.Time{}
	}
	return keptSince(r).Add(keep.For)
}

// use records when a transfer was used last.
type use struct {
	mu    sync.Mutex
	users int
	last  time.Time
	sent  int64 // bytes, at the last call of until
}

// begin records a use, which ends with done.
func (u *use) begin() (done func()) {
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
