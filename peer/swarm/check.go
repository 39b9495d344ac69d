package swarm

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
)

const (
	// maxSuspicions bounds the queued suspicions of one peer; further ones are dropped. A
	// node requests nothing more of a peer that owes it a few answers.
	maxSuspicions = 1024
	// retryPause is the time until the checker tries a piece out of service again. It doubles, up
	// to maxRetryPause.
	retryPause    = time.Second
	maxRetryPause = time.Minute
)

// checker hashes stored pieces again, and records which pieces are out of service. Safe for concurrent use.
type checker struct {
	// Constant.
	*base
	post func(ev mob.Event, about payload.Peer)
	// joined reports whether a peer still has its session.
	joined func(payload.Peer) bool
	// lost is called with the number of pieces that were found to be damaged, and restored when a piece
	// is stored again.
	lost     func(pieces int)
	restored func()

	more token // there are new suspicions

	losing sync.Mutex // held while a piece is taken out of service

	mu         sync.Mutex // guards the following fields
	suspicions map[payload.Peer][]payload.Suspicion
	// unreadable are pieces, verified or unverified since the start, that cannot be read at
	// present, and damaged the pieces that failed a check and are not stored again.
	unreadable, damaged map[int]bool
	why                 error // why the first of unreadable cannot be read
}

// newChecker returns a checker for a node's own pieces. The caller sets the functions.
func newChecker(b *base) *checker {
	k := &checker{
		base:       b,
		more:       newToken(),
		suspicions: map[payload.Peer][]payload.Suspicion{},
		unreadable: map[int]bool{},
		damaged:    map[int]bool{},
		why:        b.cfg.Why,
	}
	for _, piece := range b.cfg.Unreadable {
		k.unreadable[piece] = true
	}
	for _, piece := range b.cfg.Lost {
		k.damaged[piece] = true
	}
	if b.cfg.UploadOnly && !b.cfg.Verifier.Growing() {
		for _, i := range k.missing() {
			k.damaged[i] = true
		}
	}
	return k
}

func (k *checker) Suspect(c payload.Suspicion) {
	if int(c.Piece) >= k.m.Pieces() || !k.st.Has(int(c.Piece)) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	waiting := k.suspicions[c.Peer]
	if len(waiting) >= maxSuspicions || slices.Contains(waiting, c) || !c.ByPeer && k.unreadable[int(c.Piece)] {
		return
	}
	k.suspicions[c.Peer] = append(waiting, c)
	k.more.put()
}

// next takes a suspicion of a random peer, so that one with many suspicions does not delay another one.
func (k *checker) next() (c payload.Suspicion, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for peer, waiting := range k.suspicions {
		k.suspicions[peer] = waiting[1:]
		if len(waiting) == 1 {
			delete(k.suspicions, peer)
		}
		return waiting[0], true
	}
	return c, false
}

// run hashes stored pieces one at a time until the swarm ends: suspected ones first; if one of them is
// damaged, all pieces, at half the speed of the disk; and pieces out of service with growing pauses.
func (k *checker) run() {
	all := k.m.Pieces() // the next piece of a check of all; beyond the last if there is none
	var due time.Time   // when the next piece that is out of service is tried again
	pause := retryPause
	for k.ctx.Err() == nil {
		if c, ok := k.next(); ok {
			if c.ByPeer && !k.joined(c.Peer) { // such as one that was banned for its reports
				continue
			}
			switch k.check(int(c.Piece)) {
			case store.Damaged:
				all = 0
			case store.Good:
				k.post(mob.Checked{Peer: c.Peer.ID(), Piece: int(c.Number), Alarm: c.ByPeer}, c.Peer)
			}
			continue
		}
		switch piece, ok := k.retry(); {
		case all < k.m.Pieces():
			began := time.Now()
			k.check(all)
			all++
			k.rest(time.Since(began))
		case !ok:
			pause, due = retryPause, time.Time{}
			k.rest(math.MaxInt64)
		case time.Until(due) > 0:
			k.rest(time.Until(due))
		case k.check(piece) == store.Good:
			pause = retryPause
		default:
			due = time.Now().Add(pause)
			pause = min(2*pause, maxRetryPause)
		}
	}
}

// retry returns an unreadable piece, or a damaged one of a seed. ok is false if there is none.
func (k *checker) retry() (piece int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for piece := range k.unreadable {
		return piece, true
	}
	for piece := range k.damaged {
		return piece, k.cfg.UploadOnly // else it is fetched again
	}
	return 0, false
}

// rest waits for a time, or until the next suspicion.
func (k *checker) rest(d time.Duration) {
	select {
	case <-k.more:
	case <-time.After(d):
	case <-k.ctx.Done():
	}
}

// check audits a piece. A piece that is not [checker.Checkable] counts as unreadable.
func (k *checker) check(piece int) (is store.Verdict) {
	is = store.Unreadable
	if k.Checkable(piece) {
		_ = k.Audit(k.ctx, slices.Values([]int{piece}), func(_ int, v store.Verdict, _ error) { is = v })
	}
	return is
}

// Checkable reports whether a piece is stored, or out of service and not being fetched.
func (k *checker) Checkable(piece int) bool {
	unreadable, damaged := k.state(piece)
	return k.st.Has(piece) || unreadable || damaged && k.cfg.UploadOnly
}

// Audit is [store.Audit] of pieces that are [Swarm.Checkable]. A damaged piece is not offered any more. A piece that
// cannot be read is not offered at present.
func (k *checker) Audit(ctx context.Context, pieces iter.Seq[int], found func(piece int, is store.Verdict, why error)) error {
	return store.Audit(ctx, k.st, k.cfg.Verifier, pieces, func(piece int, is store.Verdict, why error) error {
		if k.ctx.Err() == nil {
			found(piece, k.judge(piece, is, why), why)
		}
		return context.Cause(k.ctx)
	})
}
