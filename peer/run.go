package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// run is one run of a transfer, from a start until it stops or fails.
type run struct {
	*Transfer
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ended   chan struct{}
	reuse   bool        // take over existing files at the root
	asked   atomic.Bool // a call of Get started the run, or joined it: start over if no file exists
	looking atomic.Bool // a comparison with the disk is in progress, which may hang

	finder  Finder // nil if there are no trackers
	fetcher *metadata.Fetcher
	members []proto.Member // that trackers and the link named

	// Constant while the swarm runs.
	verifier *store.Verifier
	selected *proto.Manifest // of the verifier, or a part of it
	store    store.Store
	disk     *store.Disk // under store, nil if the transfer is unrecorded
	// Pieces with a problem when the store was opened, see [swarm.Config].
	damaged, unreadable []int
	why                 error
}

// start runs the transfer.
func (t *Transfer) start(reuse, asked bool) {
	r := &run{Transfer: t, ended: make(chan struct{}), reuse: reuse}
	r.asked.Store(asked)
	r.ctx, r.cancel = context.WithCancelCause(t.node.ctx)
	t.change(func(s *state) {
		if t.dir != "" {
			s.desc = t.newDescription(s.rec.Link)
		}
		s.phase, s.err, s.lost, s.waiting, s.run = Seeking, nil, nil, "", r
		s.started, s.completed = time.Now(), time.Time{}
		s.outcome, s.flushed = result{}, result{}
	})
	t.node.wg.Go(func() {
		defer close(r.ended)
		r.end(r.run())
		r.cancel(nil)
	})
}

// run runs the transfer, and returns why it ended.
func (r *run) run() error {
	n, link := r.node, r.Link()
	if err := n.maySeed(r.state().rec.Seed); err != nil {
		return err
	}
	if r.finder = n.ownTrackers.finder(link); r.finder != nil {
		defer r.finder.Close()
	}
	r.fetcher = n.describer.fetcher(r.ID, link, r.Description(), r.finder, r.setWaiting)
	return r.phases()
}

// end records why the run ended. Bytes that did not reach the disk are a failure even of a run that was to stop.
func (r *run) end(why error) {
	last := r.state()
	if last.swarm != nil {
		r.tryUpdate(func(rec *metadata.Record) {
			rec.Have, rec.Bytes = last.swarm.Stored()
			rec.Whole = rec.Whole && last.lost == nil
		})
	}
	if last.lost != nil { // before the failure is visible
		r.node.lose(fmt.Errorf("%s: %w", last.rec.Root, explain(last.lost)))
	}
	r.change(func(s *state) {
		if s.swarm != nil {
			totals := s.swarm.Totals()
			s.past.Add(&totals)
		}
		s.swarm, s.waiting, s.look, s.hashing = nil, "", store.State{}, nil
		s.phase, s.err = Stopped, why
		switch {
		case s.lost == nil && errors.Is(why, errRestart):
			s.err = ErrStopped
			return
		case s.lost != nil || !errors.Is(why, ErrStopped) && !errors.Is(why, errClosing):
			s.phase, s.err = Failed, cmp.Or(s.lost, why)
			if r.dir != "" { // else nothing is kept
				s.err = explain(s.err)
			}
		}
		s.settle(s.err)
	})
}

// phases goes through the phases, and returns why they ended, never nil.
func (r *run) phases() (why error) {
	var err error
	if r.members, err = r.node.describer.describe(r.ctx, r.fetcher); err != nil {
		return err
	}
	if err := r.findPlan(); err != nil {
		return err
	}
	r.verifier, r.selected = r.growing, r.Manifest()
	if r.verifier == nil {
		r.verifier = store.NewVerifier(r.Manifest())
	}
	if r.open != nil {
		r.store, err = r.open(r.Manifest())
	} else if err = r.selectFiles(); err == nil {
		err = r.openStore()
	}
	if err != nil {
		return err
	}
	if err := r.takeOrigins(); err != nil {
		return errors.Join(err, r.store.Close())
	}
	r.change((*state).hold)
	why = r.share()
	r.change(func(s *state) { s.open = vfs.Place{} })
	if err := r.store.Close(); err != nil {
		r.lose(fmt.Errorf("close files: %w", err))
	}
	return why
}

// setWaiting records what the transfer waits for.
func (r *run) setWaiting(what string) { r.change(func(s *state) { s.waiting = what }) }

// lose records why bytes did not reach the disk.
func (r *run) lose(err error) {
	r.change(func(s *state) { s.lost = cmp.Or(s.lost, err) })
}

// share runs a swarm until it ends, and returns why.
func (r *run) share() error {
	n, rec, plan, leftOut := r.node, &r.state().rec, r.Description().Plan(), r.selected.LeftOutPieces()
	if len(leftOut) > 0 {
		plan = nil // hosts that it sends to would wait for its pieces
	}
	cfg := swarm.Config{
		Cluster:    n.cfg.Cluster,
		InOrder:    rec.InOrder,
		UploadOnly: rec.Seed,
		Damaged:    r.reopen,
		Key:        n.host.Peerstore().PrivKey(n.host.ID()),
		Link:       rec.Link,
		Plan:       plan,
		Name:       n.planHost.in(plan),
		Verifier:   r.verifier,
		Store:      r.store,
		Host:       n.host,
		Bulk:       n.bulk,
		Addrs:      n.dialer.addrBytes,
		Seed:       rand.Uint64(),
		Limits:     r.swarmLimits(),
		Sharing:    n.sharing,
		Tuning:     n.cfg.Tuning,
		Finished:   r.complete,
		Lost:       r.damaged,
		Unreadable: r.unreadable,
		LeftOut:    leftOut,
		Why:        r.why,
		Faults:     n.faults,
		Log:        r.log(),
	}
	if r.finder != nil {
		cfg.Finder = r.finder
	}
	s, err := swarm.New(r.ctx, cfg)
	if err != nil {
		return err
	}
	dropped := 0
	if !rec.Seed && !rec.SpecialBits {
		dropped = r.verifier.Manifest().SpecialBits()
	}
	r.change(func(st *state) {
		st.swarm, st.waiting, st.hashing, st.droppedBits, st.phase = s, "", nil, dropped, Fetching
	})
	var beside sync.WaitGroup
	if !rec.Link.InfoHash.IsZero() && r.Description().Torrent() == nil {
		beside.Go(func() { r.fetcher.FetchTorrent(s.Context(), s.Connected, r.members) })
	}
	if attach := n.cfg.AttachExternal; attach != nil {
		beside.Go(func() { attach(s.Context(), r.Transfer) })
	}
	if rec.Seed && len(r.damaged)+len(r.unreadable) > 0 {
		r.checkEntries(s.Context())
		r.setComplete() // it serves the valid pieces
	}
	why := s.Run(r.members)
	beside.Wait()
	return why
}

// complete puts fetched files in their place once every piece is stored, and flushes them.
func (r *run) complete(s *swarm.Swarm) {
	seed := r.state().rec.Seed
	if !seed {
		switch err := r.publish(s.Context()); {
		case errors.Is(err, store.ErrNotWhole): // a piece was damaged since, and this is called again
			s.LoseDropped()
			return
		case err != nil:
			s.Fail(fmt.Errorf("finish: %w", err))
			return
		case !r.checkForeign(s): // likewise
			return
		}
	}
	r.checkEntries(s.Context())
	if s.Context().Err() != nil {
		return // the entries were not compared
	}
	completed := r.setComplete()
	if completed.IsZero() { // likewise
		s.LoseDropped()
		return
	}
	var err error
	if !seed {
		// The user has the content by now. Only if the machine crashes before the flush
		// ends, pieces are unverified, as with any copy.
		err = r.store.Finish()
	}
	switch {
	case err == nil:
		r.change(func(s *state) {
			if s.completed == completed { // else a piece was damaged since, and another call flushes it
				s.flushed.settle(nil)
			}
		})
	case errors.Is(err, store.ErrNotWhole): // a piece was damaged since
		s.LoseDropped()
	default:
		err = fmt.Errorf("flush to disk: %w", err)
		r.lose(err)
		s.Fail(err)
	}
}

// checkForeign hashes the files again that another program changed before pieces of them were fetched again. It reports
// false if pieces are damaged.
func (r *run) checkForeign(s *swarm.Swarm) bool {
	if r.disk == nil {
		return true
	}
	check := r.disk.Foreign()
	if !slices.Contains(check, true) {
		return true
	}
	v := &verification{m: r.selected}
	err := auditSwarm(s.Context(), s, r.disk, check, v.found)
	if err != nil {
		s.Fail(err)
	}
	return err == nil && len(v.damaged) == 0
}

// publish puts fetched files in their place. While the path does not lead to them, the outcome is that error, and
// publish waits.
func (r *run) publish(ctx context.Context) error {
	for pause := lookPause; ; pause = min(2*pause, maxLookPause) {
		err := r.store.Publish()
		if err == nil && r.disk != nil {
			err = r.disk.CheckPlace()
		}
		if !errors.Is(err, store.ErrAway) {
			if pause > lookPause {
				r.change(func(s *state) {
					s.waiting = ""
					s.outcome.retry()
					s.flushed.retry()
				})
			}
			return err
		}
		r.change(func(s *state) {
			s.waiting = s.rec.Root + ", which was moved, replaced or unmounted: put it back"
			s.settle(err)
		})
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// checkEntries settles the outcome if an entry differs and the transfer was complete before: a seed, and a link or an
// empty file that was changed, are not repaired. Fetched files are: those that changed before the store was opened have
// been hashed, and the remaining ones are once a peer reports a bad piece or the user verifies them.
func (r *run) checkEntries(ctx context.Context) {
	rec := &r.state().rec
	if rec.Completed.IsZero() || r.disk == nil {
		return
	}
	var look store.State
	var err error
	if rec.Seed { // Look leaves out files without a verified piece
		look.Different, look.Away, err = r.disk.Differences(ctx, true)
		look.Different = r.addChanged(look.Different)
	} else {
		look, err = r.disk.Look(ctx)
		look.Different = slices.DeleteFunc(look.Different, rewritten(r.selected))
	}
	if ctx.Err() != nil {
		return
	}
	if err == nil && !look.Intact() {
		err = &DifferentError{State: look, Seed: rec.Seed}
	}
	if err == nil {
		return
	}
	r.change(func(s *state) {
		s.outcome.settle(err)
		if rec.Seed {
			s.flushed.settle(err) // nothing is flushed until the files are back
		}
	})
}

// addChanged adds the files of damaged pieces to the entries that differ: the store has stamped files that were changed.
func (r *run) addChanged(different []store.Difference) []store.Difference {
	named := paths(different)
	add := func(files []string) {
		for _, path := range files {
			if !named[path] {
				named[path] = true
				different = append(different, store.Difference{Path: path, What: store.Changed})
			}
		}
	}
	l := newPieceList(r.selected, slices.Concat(r.damaged, r.unreadable), named)
	add(l.Files)
	for _, g := range l.OneOf {
		if !slices.ContainsFunc(g.Files, func(path string) bool { return named[path] }) {
			add(g.Files)
		}
	}
	return different
}

// setComplete records that the content is complete, and returns the time. It returns zero if pieces have been damaged since
// the last one was stored. The store forgets a piece before reopen is called, so setComplete or reopen notices.
func (r *run) setComplete() (completed time.Time) {
	number := r.node.number.Add(1)
	r.tryUpdate(func(rec *metadata.Record) {
		rec.Whole = rec.Seed || r.state().full() // a seed serves its valid pieces
		if rec.Whole && rec.Completed.IsZero() {
			rec.Completed, rec.Number = time.Now(), number
		}
	})
	r.change(func(s *state) {
		if s.rec.Whole && (s.rec.Seed || s.full()) {
			completed = time.Now()
			s.phase, s.completed = Whole, completed
			s.outcome.settle(nil)
		}
	})
	return completed
}

// reopen continues a complete transfer whose pieces are damaged: they are fetched again. A seed
// only withdraws them.
func (r *run) reopen() {
	reopened := false
	r.change(func(s *state) {
		if reopened = s.rec.Whole && !s.rec.Seed; reopened {
			s.rec.Whole = false
			s.phase, s.completed = Fetching, time.Time{}
			s.outcome, s.flushed = result{}, result{}
		}
	})
	if reopened {
		r.tryUpdate(func(*metadata.Record) {}) // saves it
	}
}
