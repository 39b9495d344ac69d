package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// runFiles runs the transfer through its phases, and returns why it ended, never nil, and what kept its
// bytes from the disk.
func (t *Transfer) runFiles(ctx context.Context) (why, lost error) {
	finder, closeFinder := t.finder()
	defer closeFinder()
	members, err := t.describe(ctx, finder)
	if err != nil {
		return err, nil
	}
	if err := t.findPlan(ctx, finder); err != nil {
		return err, nil
	}
	c := content{verifier: store.NewVerifier(t.Manifest())}
	if err := t.openStore(ctx, &c); err != nil {
		return err, nil
	}
	e := t.Manifest().Entries
	t.spot.hold(len(e) == 1 && e[0].Path == "" && e[0].Kind == proto.File)
	why, lost = t.runSwarm(ctx, c, finder, members)
	t.spot.release()
	if err := c.store.Close(); err != nil && lost == nil {
		lost = fmt.Errorf("close files: %w", err)
	}
	return why, lost
}

// content is what a swarm verifies and stores.
type content struct {
	verifier *store.Verifier
	store    store.Store
	disk     *store.Disk         // under store, nil if that is the caller's of [Node.Join]
	started  chan<- *swarm.Swarm // receives the swarm of [Node.Join]
	// What was wrong with a content when its store was opened, see [swarm.Config].
	lost, unreadable []int
	why              error
}

// runSwarm runs a swarm until it ends, and returns why, and why the final flush failed, if it did.
func (t *Transfer) runSwarm(ctx context.Context, c content, finder Finder, members []proto.Member) (why, lost error) {
	n := t.node
	var flush sync.Mutex // guards lost
	cfg := swarm.Config{
		Cluster:    n.cfg.Cluster,
		UploadOnly: t.record().Seed,
		Damaged:    t.markDamaged,
		Key:        n.host.Peerstore().PrivKey(n.host.ID()),
		Link:       t.Link(),
		Plan:       t.Description().Plan(),
		Name:       n.nameIn(t.Description().Plan()),
		Verifier:   c.verifier,
		Store:      c.store,
		Host:       n.host,
		Bulk:       n.bulk,
		Addrs:      n.addrBytes,
		Seed:       n.seed(t.ID),
		Limits:     t.swarmLimits(),
		Sharing:    n.sharing,
		Tuning:     n.cfg.Tuning,
		Finished: func(s *swarm.Swarm) {
			if err := t.complete(s, c); err != nil {
				flush.Lock()
				defer flush.Unlock()
				lost = err
			}
		},
		Lost:       c.lost,
		Unreadable: c.unreadable,
		Why:        c.why,
		Faults:     n.faults,
		Log:        n.log.With("content", t.ID.String()),
	}
	if finder != nil {
		cfg.Finder = finder
	}
	s, err := swarm.New(ctx, cfg)
	if err != nil {
		return err, nil
	}
	dropped := 0
	if r := t.record(); !r.Seed && !r.SpecialBits {
		dropped = c.verifier.Manifest().SpecialBits()
	}
	t.mu.Lock()
	t.mu.droppedBits = dropped
	t.mu.swarm, t.mu.store, t.mu.disk, t.mu.waiting = s, c.store, c.disk, ""
	logPhase := t.enter(Fetching)
	t.mu.Unlock()
	logPhase()
	if c.started != nil {
		c.started <- s
	}
	var beside sync.WaitGroup
	if !t.InfoHash().IsZero() && t.Torrent() == nil {
		beside.Go(func() { t.fetcher(finder).FetchTorrent(s.Context(), s.Connected, members) })
	}
	if attach := n.cfg.AttachExternal; attach != nil {
		beside.Go(func() { attach(s.Context(), t) })
	}
	if cfg.UploadOnly && len(c.lost)+len(c.unreadable) > 0 {
		t.checkEntries(s.Context(), c)
		t.markWhole() // it serves what is sound
	}
	why = s.Run(members)
	beside.Wait()
	return why, lost
}

// complete puts fetched files in their place once every piece is stored, and flushes them. It
// returns why the flush failed.
func (t *Transfer) complete(s *swarm.Swarm, c content) (lost error) {
	seed := t.record().Seed
	if !seed {
		err := c.store.Publish()
		if err == nil && c.disk != nil {
			err = c.disk.CheckPlace()
		}
		if errors.Is(err, store.ErrNotWhole) { // a piece was damaged since, and this is called again
			s.LoseDropped()
			return nil
		}
		if err != nil {
			s.Fail(fmt.Errorf("finish: %w", err))
			return nil
		}
	}
	t.checkEntries(s.Context(), c)
	if s.Context().Err() != nil {
		return nil // it was not compared with the disk
	}
	t.markWhole()
	var err error
	if !seed {
		// The user has the content by now. Only if the machine crashes before the flush
		// ends, pieces are unverified, as with any copy.
		err = c.store.Finish()
	}
	switch {
	case err == nil:
		t.mu.Lock()
		t.mu.flushed.settle(nil)
		t.mu.Unlock()
	case errors.Is(err, store.ErrNotWhole): // a piece was damaged since
		s.LoseDropped()
	default:
		lost = fmt.Errorf("flush to disk: %w", err)
		s.Fail(lost)
	}
	return lost
}

// checkEntries settles the outcome if an entry differs and the transfer was complete before: a seed, and a link or an
// empty file that was changed, are not repaired. Fetched files are: those that changed before the store was opened have
// been hashed, and others are once a peer complains or the user verifies them.
func (t *Transfer) checkEntries(ctx context.Context, c content) {
	r, m := t.record(), c.verifier.Manifest()
	if r.Completed.IsZero() || c.disk == nil {
		return
	}
	state, err := c.disk.Look(ctx)
	if ctx.Err() != nil {
		return
	}
	if r.Seed {
		// Look leaves out files without a verified piece, and the store has stamped changed files.
		damaged, more := m.FilesOf(slices.Sorted(slices.Values(slices.Concat(c.lost, c.unreadable))), maxNamed)
		for _, path := range damaged {
			if !slices.ContainsFunc(state.Different, func(d store.Difference) bool { return d.Path == path }) {
				state.Different = append(state.Different, store.Difference{Path: path, What: store.Changed})
			}
		}
		state.More += more
	} else {
		state.Different = slices.DeleteFunc(state.Different, rewritten(m))
	}
	if err == nil && !state.Intact() {
		err = &DifferentError{State: state, Seed: r.Seed}
	}
	if err == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.outcome.settle(err)
	if r.Seed {
		t.mu.flushed.settle(err) // nothing is flushed until the files are back
	}
}

// markWhole records that the content is whole.
func (t *Transfer) markWhole() {
	number := t.node.number.Add(1)
	t.logUnsaved(t.update(func(r *metadata.Record) {
		r.Whole = true
		if r.Completed.IsZero() {
			r.Completed, r.Number = time.Now(), number
		}
	}))
	t.mu.Lock()
	t.mu.finished = time.Now()
	t.mu.outcome.settle(nil)
	logPhase := t.enter(Whole)
	t.mu.Unlock()
	logPhase()
}

// markDamaged continues a complete transfer whose pieces are damaged: they are fetched again. A seed
// only withdraws them.
func (t *Transfer) markDamaged([]int) {
	t.mu.Lock()
	if t.mu.rec.Seed || t.mu.phase != Whole {
		t.mu.Unlock()
		return
	}
	t.mu.finished = time.Time{}
	t.mu.outcome, t.mu.flushed = newOutcome(), newOutcome()
	logPhase := t.enter(Fetching)
	t.mu.Unlock()
	logPhase()
	t.logUnsaved(t.update(func(r *metadata.Record) { r.Whole = false }))
}
