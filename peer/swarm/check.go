package swarm

import (
	"context"
	"iter"
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

// checks has the queue of the checker, and the pieces out of service. Safe for concurrent use.
type checks struct {
	more chan struct{} // holds a token if there is something new to do

	losing sync.Mutex // held while a piece is taken out of service

	mu         sync.Mutex // guards the following fields
	suspicions map[payload.Peer][]payload.Suspicion
	turns      []payload.Peer // peers with suspicions, the next one first
	// unreadable are pieces, verified or unverified since the start, that cannot be read at
	// present, and damaged the pieces that failed a check and are not stored again.
	unreadable, damaged map[int]bool
	why                 error // why the first of unreadable cannot be read
}

func newChecks(cfg *Config) *checks {
	k := &checks{
		more:       make(chan struct{}, 1),
		suspicions: map[payload.Peer][]payload.Suspicion{},
		unreadable: map[int]bool{},
		damaged:    map[int]bool{},
		why:        cfg.Why,
	}
	for _, piece := range cfg.Lost {
		k.damaged[piece] = true
	}
	for _, piece := range cfg.Unreadable {
		k.unreadable[piece] = true
	}
	return k
}

// Suspect implements [payload.Swarm].
func (s *Swarm) Suspect(c payload.Suspicion) {
	if int(c.Piece) < s.m.Pieces() && s.st.Has(int(c.Piece)) {
		s.checks.add(c)
	}
}

// add queues a check of a piece. Peers take turns, so one with many suspicions does not delay another one.
func (k *checks) add(c payload.Suspicion) {
	k.mu.Lock()
	defer k.mu.Unlock()
	waiting := k.suspicions[c.Peer]
	if len(waiting) >= maxSuspicions || slices.Contains(waiting, c) || !c.ByPeer && k.unreadable[int(c.Piece)] {
		return
	}
	if len(waiting) == 0 {
		k.turns = append(k.turns, c.Peer)
	}
	k.suspicions[c.Peer] = append(waiting, c)
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// stored forgets the damaged pieces that are stored again.
func (k *checks) stored(has func(piece int) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for piece := range k.damaged {
		if has(piece) {
			delete(k.damaged, piece)
		}
	}
}

// next takes the next suspicion.
func (k *checks) next() (c payload.Suspicion, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.turns) == 0 {
		return c, false
	}
	p := k.turns[0]
	k.turns = k.turns[1:]
	c, left := k.suspicions[p][0], k.suspicions[p][1:]
	if len(left) == 0 {
		delete(k.suspicions, p)
		return c, true
	}
	k.suspicions[p] = left
	k.turns = append(k.turns, p)
	return c, true
}

// retry returns an unreadable piece, or a damaged one of a seed. ok is false if there is none.
func (s *Swarm) retry() (piece int, ok bool) {
	k := s.checks
	k.mu.Lock()
	defer k.mu.Unlock()
	for piece := range k.unreadable {
		return piece, true
	}
	if !s.cfg.UploadOnly {
		return 0, false // it is fetched again
	}
	for piece := range k.damaged {
		return piece, true
	}
	return 0, false
}

// check hashes stored pieces one at a time until the swarm ends: suspected ones first; if one of them is
// damaged, all pieces, at half the speed of the disk; and pieces out of service with growing pauses.
func (s *Swarm) check() {
	all := s.m.Pieces() // the next piece of a check of all; beyond the last if there is none
	var due time.Time   // when the next piece that is out of service is tried again
	pause := retryPause
	for s.ctx.Err() == nil {
		if c, ok := s.checks.next(); ok {
			switch verdict, ok := s.checkPiece(int(c.Piece)); {
			case !ok:
			case verdict == store.Damaged:
				all = 0
			case verdict == store.Good:
				s.Post(mob.Checked{Peer: c.Peer.ID(), Piece: int(c.Number), Alarm: c.ByPeer}, c.Peer)
			}
			continue
		}
		wait := time.Duration(-1)
		if all < s.m.Pieces() {
			began := time.Now()
			s.checkPiece(all)
			all++
			wait = time.Since(began)
		} else if piece, ok := s.retry(); !ok {
			pause, due = retryPause, time.Time{}
		} else if wait = time.Until(due); wait <= 0 {
			if verdict, ok := s.checkPiece(piece); ok && verdict == store.Good {
				pause = retryPause
				continue
			}
			due = time.Now().Add(pause)
			pause = min(2*pause, maxRetryPause)
			continue
		}
		s.restFor(wait)
	}
}

// restFor waits for a time, or until the next suspicion. A negative time does not end.
func (s *Swarm) restFor(d time.Duration) {
	var over <-chan time.Time
	if d >= 0 {
		over = time.After(d)
	}
	select {
	case <-s.checks.more:
	case <-over:
	case <-s.ctx.Done():
	}
}

// Checkable reports whether a piece is stored, or out of service and not being fetched.
func (s *Swarm) Checkable(piece int) bool {
	k := s.checks
	k.mu.Lock()
	defer k.mu.Unlock()
	return s.st.Has(piece) || k.unreadable[piece] || k.damaged[piece] && s.cfg.UploadOnly
}

// Audit is [store.Audit] of pieces that are [Swarm.Checkable]. A damaged piece is not offered any more. A piece that
// cannot be read is not offered at present.
func (s *Swarm) Audit(ctx context.Context, pieces iter.Seq[int], found func(piece int, is store.Verdict, why error)) error {
	return store.Audit(ctx, s.st, s.cfg.Verifier, pieces, func(piece int, is store.Verdict, why error) error {
		if s.ctx.Err() == nil {
			found(piece, s.judge(piece, is, why), why)
		}
		return context.Cause(s.ctx)
	})
}

// checkPiece audits a piece. It reports false if the piece is not [Swarm.Checkable].
func (s *Swarm) checkPiece(piece int) (is store.Verdict, ok bool) {
	if s.Checkable(piece) {
		_ = s.Audit(s.ctx, slices.Values([]int{piece}), func(_ int, v store.Verdict, _ error) { is, ok = v, true })
	}
	return is, ok
}

// judge puts a piece out of service, or back into it, after an audit. A piece that was lost during the audit
// is damaged.
func (s *Swarm) judge(piece int, is store.Verdict, why error) store.Verdict {
	if !s.Checkable(piece) {
		return store.Damaged
	}
	k := s.checks
	k.mu.Lock()
	wasDamaged := k.damaged[piece] && !s.st.Has(piece)
	k.mu.Unlock()
	switch {
	case is == store.Unreadable && !wasDamaged:
		s.withhold(piece, why)
	case is == store.Damaged && !wasDamaged:
		s.lose(piece)
	case is == store.Good && !s.restore(piece):
		return store.Damaged
	}
	return is
}

// withhold takes a piece out of service that cannot be read at present.
func (s *Swarm) withhold(piece int, err error) {
	k := s.checks
	k.mu.Lock()
	first, known := len(k.unreadable) == 0, k.unreadable[piece]
	k.unreadable[piece] = true
	if first {
		k.why = err
	}
	k.mu.Unlock()
	if known || s.ctx.Err() != nil {
		return
	}
	if first {
		s.log.Error("content cannot be read at present, and is offered again when it can be",
			"file", s.fileOf(piece), "error", err)
	}
	s.Post(mob.Withheld{Range: s.codec.Numbers(piece)}, nil)
}

// lose takes a piece out of service that is damaged.
func (s *Swarm) lose(piece int) {
	// One at a time, and rehashed: the piece may have been lost with another, and fetched again.
	s.checks.losing.Lock()
	defer s.checks.losing.Unlock()
	if good, err := s.cfg.Verifier.Check(s.st, piece); !s.Checkable(piece) || good || err != nil {
		return
	}
	first, after := s.sharingFile(piece)
	had := make([]bool, after-first)
	for i := range had {
		had[i] = s.st.Has(first + i)
	}
	s.log.Error("content changed on disk: a piece is damaged and not offered any more",
		"piece", piece, "file", s.fileOf(piece))
	if err := s.st.Forget(piece); err != nil {
		s.log.Error("journal", "error", err)
	}
	// If a file was removed, all pieces with a part of it are lost.
	lost := []int{piece}
	for i := range had {
		if other := first + i; other != piece && had[i] && !s.st.Has(other) {
			lost = append(lost, other)
		}
	}
	s.takeOut(lost)
}

// LoseDropped takes the pieces out of service that the store has dropped since they were verified, because another program
// removed or truncated their file. It is for a store that has not all pieces although every piece was stored.
func (s *Swarm) LoseDropped() {
	s.checks.losing.Lock()
	defer s.checks.losing.Unlock()
	var lost []int
	s.checks.mu.Lock()
	for piece := range s.m.Pieces() {
		if !s.st.Has(piece) && !s.checks.unreadable[piece] && !s.checks.damaged[piece] {
			lost = append(lost, piece)
		}
	}
	s.checks.mu.Unlock()
	if len(lost) > 0 {
		s.log.Error("content changed on disk: pieces are fetched again", "pieces", len(lost), "file", s.fileOf(lost[0]))
		s.takeOut(lost)
	}
}

// takeOut takes pieces out of service that the store no longer has. The caller has the lock losing.
func (s *Swarm) takeOut(lost []int) {
	k := s.checks
	k.mu.Lock()
	for _, piece := range lost {
		delete(k.unreadable, piece)
		k.damaged[piece] = true
	}
	k.mu.Unlock()
	s.counts.damaged.Add(int64(len(lost)))
	if s.cfg.Damaged != nil {
		s.cfg.Damaged(lost)
	}
	for _, piece := range lost {
		s.codec.Forget(piece)
	}
	s.AnnounceSoon()
}

// sharingFile returns the pieces first to after-1 that share a file with piece.
func (s *Swarm) sharingFile(piece int) (first, after int) {
	first, after = piece, piece+1
	if s.cfg.Verifier.Growing() { // it is in no file
		return first, after
	}
	begin := s.m.PieceOffset(piece)
	end := begin + int64(s.m.PieceSize(piece))
	var at int64
	for i := range s.m.Entries {
		from := at
		at += s.m.Entries[i].Size
		if from < end && at > begin {
			first = min(first, int(from/int64(s.m.PieceLength)))
			after = max(after, int((at-1)/int64(s.m.PieceLength))+1)
		}
	}
	return first, after
}

// restore puts a good piece back into service, and reports whether it is.
func (s *Swarm) restore(piece int) bool {
	k := s.checks
	k.mu.Lock()
	wasUnreadable, wasDamaged := k.unreadable[piece], k.damaged[piece] // another piece that is stored may end this
	k.mu.Unlock()
	if !s.st.Has(piece) {
		if err := s.st.Commit(piece); err != nil {
			s.log.Error("journal", "error", err)
			return false
		}
		defer s.finishAgain()
	}
	k.mu.Lock()
	delete(k.unreadable, piece)
	delete(k.damaged, piece)
	last := wasUnreadable && len(k.unreadable) == 0
	rest := false // of the numbers of the piece some cannot be read yet
	numbers := s.codec.Numbers(piece)
	for other := range k.unreadable {
		rest = rest || s.codec.Numbers(other) == numbers
	}
	k.mu.Unlock()
	if last {
		s.log.Info("content can be read again")
	}
	if wasDamaged {
		s.log.Info("piece is right again", "piece", piece, "file", s.fileOf(piece))
		s.codec.Restore(piece)
		s.AnnounceSoon()
	}
	if wasUnreadable && !rest {
		s.Post(mob.Offered{Range: numbers}, nil)
	}
	return true
}

// finishAgain calls Finished if the last unverified piece that could not be read is valid: for the
// strategy it was stored from the start.
func (s *Swarm) finishAgain() {
	if len(s.cfg.Unreadable) > 0 && s.complete() {
		s.AnnounceSoon()
		s.wg.Go(func() { s.cfg.Finished(s) })
	}
}

// inService reports whether every piece is stored and can be read.
func (s *Swarm) inService() bool {
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	return s.complete() && len(s.checks.unreadable) == 0
}

// Unreadable returns how many pieces cannot be read at present, and why.
func (s *Swarm) Unreadable() (pieces int, why error) {
	k := s.checks
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.unreadable), k.why
}

// damagedPieces returns the pieces that were found to be damaged and are not stored again, in order.
func (s *Swarm) damagedPieces() (pieces []int) {
	k := s.checks
	k.mu.Lock()
	defer k.mu.Unlock()
	for piece := range k.damaged {
		if !s.st.Has(piece) {
			pieces = append(pieces, piece)
		}
	}
	slices.Sort(pieces)
	return pieces
}

// fileOf returns the name of the first file that has bytes of a piece.
func (s *Swarm) fileOf(piece int) string {
	names, _ := s.m.FilesOf([]int{piece}, 1)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// maxFiles bounds the names of files in a status.
const maxFiles = 100
