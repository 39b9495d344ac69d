package peer

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// lookTimeout bounds a look at the places of all transfers. A disk that hangs keeps only its own
// transfers from being looked at.
const lookTimeout = time.Second

// spot is the place of a transfer's files, as it was seen last.
type spot struct {
	looking sync.Mutex // held during a look, which may hang

	mu sync.Mutex
	at vfs.Place
	// open is the place when the store opened it. The last ID is the directory that the store holds open,
	// wherever that was moved since.
	open vfs.Place
}

// overlaps reports whether the content is at a place, above or below it.
func (s *spot) overlaps(p vfs.Place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	up := p // by the directory above, as a file that the store does not hold open
	if exists := len(p.IDs) - 1; exists > 0 && len(p.Rest) == 0 {
		up = vfs.Place{IDs: p.IDs[:exists], Rest: []string{filepath.Base(p.Path)}}
	}
	return p.Holds(s.at) || s.at.Holds(p) || p.Holds(s.open) || s.open.Holds(p) || s.open.Holds(up)
}

// place returns the place, without IDs if it is not known.
func (s *spot) place() vfs.Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func (s *spot) same(p vfs.Place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.Same(p)
}

func (s *spot) set(p vfs.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = p
}

// hold records that the store of the files at the place was opened. Of a single file it holds the directory above.
func (s *spot) hold(single bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := len(s.at.IDs) - 1
	switch {
	case dir < 1 || len(s.at.Rest) > 0:
	case single:
		s.open = vfs.Place{IDs: s.at.IDs[:dir], Rest: []string{filepath.Base(s.at.Path)}}
	default:
		s.open = s.at
	}
}

// release records that the store was closed.
func (s *spot) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = vfs.Place{}
}

// look looks where a path leads now. If that fails, or the transfer has no path, nothing changes.
func (s *spot) look(path string) {
	if path == "" {
		return
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	if p, err := vfs.PlaceOf(vfs.OS{}, path); err == nil {
		s.set(p)
	}
}

// placeApart returns the place of a path. It fails if that overlaps the data directory, which has the key of the
// node.
func (n *Node) placeApart(path string) (vfs.Place, error) {
	p, err := vfs.PlaceOf(vfs.OS{}, path)
	if err != nil {
		return p, err
	}
	data, err := vfs.PlaceOf(vfs.OS{}, n.cfg.Data)
	switch {
	case err != nil:
		return p, err
	case data.Holds(p):
		return p, fmt.Errorf("%s is in the data directory of the node: choose another path", path)
	case p.Holds(data):
		return p, fmt.Errorf("%s contains the data directory of the node, with its key: choose another path", path)
	}
	return p, nil
}

// lookAtAll calls look with transfers that have files, and waits for lookTimeout at most.
func lookAtAll(all []*Transfer, look func(*Transfer)) {
	seen := make(chan struct{}, len(all))
	for _, t := range all {
		go func() {
			look(t)
			seen <- struct{}{}
		}()
	}
	timeout := time.After(lookTimeout)
	for range all {
		select {
		case <-seen:
		case <-timeout:
			return
		}
	}
}

// checkPlace returns the place of the root of a record. It fails if that overlaps the data directory, or a
// transfer other than t that does not allow it.
func (n *Node) checkPlace(r metadata.Record, t *Transfer) (vfs.Place, error) {
	p, err := n.placeApart(r.Root)
	if err != nil {
		return p, err
	}
	return p, n.transfers.checkApart(p, r, t)
}

// take records where the transfer's path leads, before its store is opened and after that, which may have made
// it. It fails if that overlaps another transfer. Links and mounts may have changed since the user gave the
// path, and a file system may not distinguish two names.
func (r *run) take() error {
	rec := r.state().rec
	r.spot.look(rec.Root)
	if !r.state().writes() {
		return nil
	}
	_, err := r.node.checkPlace(rec, r.Transfer)
	return err
}

// seeded updates the transfers that overlap a new seed. The files of a complete transfer belong to the user from
// now on: it becomes a seed, and neither repairs nor deletes them. Another seed of the same path is compared
// with the files.
func (n *Node) seeded(t *Transfer) error {
	p := t.spot.place()
	var errs []error
	for _, o := range n.transfers.all() {
		s := o.state()
		switch {
		case o == t || !o.spot.overlaps(p):
		case !s.rec.Seed && o.For(t.User()), s.rec.Seed && o.spot.same(p) && (s.phase != Whole || s.full()):
			err := o.becomeSeed()
			if err != nil && !o.For(t.User()) { // it is not for this user to see
				o.log().Error("transfer not changed to a seed", "path", s.rec.Root, "error", err)
				continue
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// becomeSeed makes a transfer a seed. If it runs, it starts again, which compares the files with their stamps.
func (t *Transfer) becomeSeed() error {
	err := t.do(func() error {
		running := t.state().running()
		if running {
			t.halt(errRestart)
		}
		err := t.update(func(r *metadata.Record) { r.Seed, r.Whole = true, true })
		if running {
			t.start(false, false)
		}
		return err
	})
	if errors.Is(err, ErrUnknownTransfer) {
		return nil
	}
	return err
}
