package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// Verification is the result of [Transfer.Verify]. Its JSON is an interface for scripts.
type Verification struct {
	// Pieces counts the pieces of the selected files, and Checked the hashed ones: the stored pieces, and all pieces of a
	// seed.
	Pieces  int `json:"pieces"`
	Checked int `json:"checked"`
	// LeftOut counts what is not fetched.
	LeftOut metadata.LeftOut `json:"left_out,omitzero"`
	// Damaged pieces have other bytes, and are not offered any more.
	Damaged PieceList `json:"damaged"`
	// Missing pieces are not stored any more. It is empty if the transfer was never complete.
	Missing PieceList `json:"missing"`
	// Unreadable pieces cannot be read at present, so they may be valid. Why is the
	// reason for the first.
	Unreadable PieceList `json:"unreadable"`
	Why        string    `json:"why,omitempty"`
	// Different lists the first hundred entries that differ from the content, and MoreDifferent counts the
	// remaining ones. A file that was changed and has the right bytes does not differ.
	Different     []store.Difference `json:"different"`
	MoreDifferent int                `json:"more_different,omitempty"`
	// Left lists the entries that differ after a repair.
	Left []store.Difference `json:"left,omitempty"`
}

// Intact reports whether nothing is damaged, missing, unreadable or different.
func (v *Verification) Intact() bool {
	return v.Damaged.Count+v.Missing.Count+v.Unreadable.Count+len(v.Different) == 0
}

// verification collects what a check of pieces finds. Its methods may be called from any
// goroutine.
type verification struct {
	m        *proto.Manifest
	leftOut  metadata.LeftOut
	total    int64 // bytes
	progress func(done, total int64)

	mu                  sync.Mutex // guards what follows, and is held during calls of progress
	done                int64
	checked             int
	damaged, unreadable []int
	missing             []int // empty if the transfer was never complete
	why                 error
	different           []store.Difference
}

// newVerification prepares to hash pieces of a disk, which is nil if the transfer has no files. The remaining pieces are missing
// if all were stored once. It fails if the content is not at its path.
func newVerification(
	ctx context.Context, s *state, disk *store.Disk, check []bool, progress func(done, total int64),
) (*verification, error) {
	m := s.desc.Manifest()
	v := &verification{m: m, leftOut: s.rec.LeftOut, progress: progress}
	complete := wasComplete(s.rec)
	for i, check := range check {
		switch {
		case check:
			v.total += int64(m.PieceSize(i))
		case complete && (disk == nil || !disk.LeavesOut(i)):
			v.missing = append(v.missing, i)
		}
	}
	if disk == nil {
		return v, nil
	}
	different, away, err := disk.Differences(ctx, complete)
	if away { // what has its name now may be a copy that the user has put there
		again := "`mob get` the link again"
		if s.rec.Seed {
			again = "`mob seed` it again"
		}
		return nil, fmt.Errorf("%s was moved away, replaced or unmounted: put it back, or %s", s.rec.Root, again)
	}
	v.different = different
	return v, err
}

// auditSwarm hashes pieces of a swarm, and calls found with the verdict of each. The disk, which may be nil, accepts the files
// whose pieces are all good.
func auditSwarm(
	ctx context.Context, s *swarm.Swarm, disk *store.Disk, check []bool, found func(int, store.Verdict, error),
) error {
	if disk == nil {
		return s.Audit(ctx, store.Pieces(check), found)
	}
	changed, good := disk.Changed(), make([]bool, len(check)) // before the pieces are read
	disk.Refresh()
	err := s.Audit(ctx, store.Pieces(check), func(piece int, is store.Verdict, why error) {
		good[piece] = is == store.Good
		found(piece, is, why)
	})
	if err != nil {
		return err
	}
	return disk.Accept(changed, good)
}

// record returns a function for [store.Audit]: it records the verdict in a store, then calls found.
func record(st store.Store, found func(piece int, is store.Verdict, why error)) func(int, store.Verdict, error) error {
	return func(piece int, is store.Verdict, why error) error {
		current, err := store.Record(st, piece, is, why)
		if current && err == nil {
			found(piece, is, why)
		}
		return err
	}
}

// found records the verdict on a piece.
func (v *verification) found(piece int, verdict store.Verdict, why error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done += int64(v.m.PieceSize(piece))
	switch verdict {
	case store.Good:
		v.checked++
	case store.Damaged:
		v.checked++
		v.damaged = append(v.damaged, piece)
	case store.Unreadable:
		v.unreadable = append(v.unreadable, piece)
		v.why = cmp.Or(v.why, why)
	}
	if v.progress != nil {
		v.progress(v.done, v.total)
	}
}

// paths returns the paths of entries that differ.
func paths(different []store.Difference) map[string]bool {
	set := make(map[string]bool)
	for _, d := range different {
		set[d.Path] = true
	}
	return set
}

func (v *verification) result() *Verification {
	differing := paths(v.different)
	r := &Verification{
		Pieces:     v.m.Pieces() - v.leftOut.Pieces,
		LeftOut:    v.leftOut,
		Checked:    v.checked,
		Damaged:    newPieceList(v.m, v.damaged, differing),
		Missing:    newPieceList(v.m, v.missing, differing),
		Unreadable: newPieceList(v.m, v.unreadable, differing),
	}
	if v.why != nil {
		r.Why = oneLine(v.why.Error())
	}
	bad := make(map[string]bool)
	pieces := slices.Sorted(slices.Values(slices.Concat(v.damaged, v.missing, v.unreadable)))
	files, _ := v.m.FilesOf(pieces, math.MaxInt)
	for _, path := range files {
		bad[path] = true
	}
	rewritten := rewritten(v.m)
	all := slices.DeleteFunc(v.different, func(d store.Difference) bool { return rewritten(d) && !bad[d.Path] })
	r.Different = append([]store.Difference{}, all[:min(len(all), maxListed)]...)
	r.MoreDifferent = len(all) - len(r.Different)
	return r
}

// rewritten returns a function that reports whether a difference is a changed file, which may have the right bytes, and
// not a changed link.
func rewritten(m *proto.Manifest) func(store.Difference) bool {
	links := make(map[string]bool)
	for _, e := range m.Entries {
		links[e.Path] = e.Kind == proto.Symlink
	}
	return func(d store.Difference) bool { return d.What == store.Changed && !links[d.Path] }
}

// Differences returns the entries that differ from the content now, apart from files whose bytes were changed and are
// of the right number.
func (t *Transfer) Differences(ctx context.Context) ([]store.Difference, error) {
	defer t.use.start()()
	s, err := t.states.awaitSwarm(ctx)
	if err != nil {
		return nil, err
	}
	if s.desc.Manifest() == nil {
		return nil, errNothingToVerify
	}
	v, err := newVerification(ctx, s, s.disk(), nil, nil)
	if err != nil {
		return nil, err
	}
	return v.result().Different, nil
}

// wasComplete reports whether all pieces were stored once.
func wasComplete(r metadata.Record) bool { return r.Whole || r.Seed || !r.Completed.IsZero() }

var errNotVerified = errors.New("the content was not verified to the end: another command has started, stopped or removed the transfer")

var errNothingToVerify = errors.New("there is nothing to verify: the manifest is not here")

// Verify compares all entries with the content, reads all that the node has again, and hashes it. It calls progress, if
// that is not nil, with the bytes done and to do. Damaged pieces are not offered any more. They are fetched
// again while the transfer runs, unless it is a seed, whose files are never written. The transfer continues to run. Verify fails
// if the content is not at its path, and if another call starts or removes a stopped transfer.
func (t *Transfer) Verify(ctx context.Context, progress func(done, total int64)) (found *Verification, err error) {
	defer t.use.start()()
	st, err := t.states.awaitSwarm(ctx)
	if err != nil {
		return nil, err
	}
	s, disk := st.swarm, st.disk()
	if s == nil {
		err := t.alone(func() error {
			found, err = t.verifyStopped(ctx, progress)
			return err
		})
		return found, err
	}
	check := make([]bool, st.desc.Manifest().Pieces())
	for i := range check {
		check[i] = s.Checkable(i)
	}
	v, err := newVerification(ctx, st, disk, check, progress)
	if err != nil {
		return nil, err
	}
	err = auditSwarm(ctx, s, disk, check, v.found)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if why := context.Cause(s.Context()); errors.Is(why, ErrStopped) || errors.Is(why, errClosing) {
		return nil, fmt.Errorf("the content was not verified to the end: %w", why)
	}
	if s.Context().Err() != nil { // such as when a piece cannot be fetched again: something else is in the place of its file
		return t.Verify(ctx, progress)
	}
	t.change(func(s *state) { s.look = store.State{} }) // the next Look compares the disk as it is now
	return v.result(), err
}

// awaitSwarm waits until the transfer serves what it has, or has ended, and returns that state. It fails if the
// transfer waits for something else.
func (all *states) awaitSwarm(ctx context.Context) (s *state, err error) {
	s, ended := all.until(ctx, func(s *state) bool {
		switch {
		case s.swarm != nil && s.swarm.Context().Err() == nil, !s.running():
			return true
		case s.waiting != "" && s.desc.Manifest() == nil:
			err = errNothingToVerify
		case s.waiting != "":
			err = fmt.Errorf("there is nothing to verify: the transfer waits for %s", s.waiting)
		}
		return err != nil
	})
	return s, cmp.Or(ended, err)
}

// verifyStopped is Verify for a transfer that does not run.
func (t *Transfer) verifyStopped(ctx context.Context, progress func(done, total int64)) (*Verification, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.node.ctx, func() { cancel(errClosing) })()
	d, s := t.Description(), t.state()
	switch {
	case t.dir == "":
		return nil, errUnrecorded
	case s.running():
		return nil, errors.New("the transfer has just been started: verify it again")
	}
	if err := d.Load(); d.Manifest() == nil {
		return nil, errors.Join(errNothingToVerify, err)
	}
	m := d.Manifest()
	selected, err := s.rec.Selected.Of(m)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(t.dir, s.rec.Root, selected, t.files(s.rec))
	if err != nil {
		return nil, fmt.Errorf("there is nothing to verify: %w", err)
	}
	check := st.Unverified()
	for i := range check {
		check[i] = check[i] || st.Has(i) || s.rec.Seed && !st.LeavesOut(i)
	}
	v, err := newVerification(ctx, s, st, check, progress)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	st.Refresh()
	err = store.Audit(ctx, st, store.NewVerifier(m), store.Pieces(check), record(st, func(piece int, is store.Verdict, why error) {
		v.found(piece, is, why)
		if t.ops.calls.Load() > 0 { // they wait for this one
			cancel(errNotVerified)
		}
	}))
	have, bytes := 0, int64(0)
	for i := range check {
		if st.Has(i) {
			have, bytes = have+1, bytes+int64(m.PieceSize(i))
		}
	}
	err = errors.Join(err, st.Close())
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil && !s.rec.Seed {
		err = t.update(func(r *metadata.Record) {
			r.Whole, r.Have, r.Bytes = r.Whole && len(v.damaged)+len(v.missing) == 0, have, bytes
		})
	}
	return v.result(), err
}
