package peer

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// lookTimeout bounds a look at the places of all transfers. A disk that hangs keeps only its own
// transfers from being looked at.
const lookTimeout = time.Second

// overlaps reports whether the transfer's files are at a place, above or below it.
func (s *state) overlaps(p vfs.Place) bool {
	up := p // by the directory above, as a file that the store does not hold open
	if exists := len(p.IDs) - 1; exists > 0 && len(p.Rest) == 0 {
		up = vfs.Place{IDs: p.IDs[:exists], Rest: []string{filepath.Base(p.Path)}}
	}
	return p.Holds(s.place) || s.place.Holds(p) || p.Holds(s.open) || s.open.Holds(p) || s.open.Holds(up)
}

// hold records the place of the open store. Of a single file the store holds the directory above.
func (s *state) hold() {
	dir, e := len(s.place.IDs)-1, s.desc.Manifest().Entries
	switch single := len(e) == 1 && e[0].Path == "" && e[0].Kind == proto.File; {
	case dir < 1 || len(s.place.Rest) > 0:
	case single:
		s.open = vfs.Place{IDs: s.place.IDs[:dir], Rest: []string{filepath.Base(s.place.Path)}}
	default:
		s.open = s.place
	}
}

// locate records where the transfer's path leads now. If that fails, another look hangs, or it has no path, nothing changes.
func (t *Transfer) locate() {
	root := t.state().rec.Root
	if root == "" {
		return
	}
	select {
	case t.states.locating <- struct{}{}:
		defer func() { <-t.states.locating }()
	case <-time.After(lookTimeout): // each call of lookAtAll would leave a goroutine until the disk answers
		return
	}
	if p, err := vfs.PlaceOf(vfs.OS{}, root); err == nil {
		t.change(func(s *state) {
			if s.rec.Root == root {
				s.place = p
			}
		})
	}
}

// looks lets concurrent calls share a look. It is safe for concurrent use.
type looks struct {
	asked atomic.Int64 // calls
	mu    sync.Mutex   // held during a look
	seen  int64        // calls before the last look, guarded by mu
}

// share calls look, or waits for a look that started after the call.
func (l *looks) share(look func()) {
	call := l.asked.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen < call {
		l.seen = l.asked.Load()
		look()
	}
}

// locate locates all transfers. A gather asks for that four times for each of its hosts.
func (r *registry) locate() {
	r.looks.share(func() { lookAtAll(r.all(), (*Transfer).locate) })
}

// place returns the place of a path. It fails if that overlaps the data directory, which has the key of the node.
func (r *registry) place(path string) (vfs.Place, error) {
	p, err := vfs.PlaceOf(vfs.OS{}, path)
	if err != nil {
		return p, err
	}
	data, err := vfs.PlaceOf(vfs.OS{}, r.data)
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

// placeFor returns the place of the root of a record. It fails if that overlaps the data directory, or a
// transfer other than t that does not allow it.
func (r *registry) placeFor(rec metadata.Record, t *Transfer) (vfs.Place, error) {
	p, err := r.place(rec.Root)
	if err != nil {
		return p, err
	}
	return p, r.checkApart(p, rec, t)
}

// CheckPath fails if no files may be created at a path, since it overlaps a transfer or the data directory.
func (n *Node) CheckPath(path string) error {
	_, err := n.transfers.placeFor(metadata.Record{Root: path}, nil)
	return err
}

// take records where the transfer's path leads, before its store is opened and after that, which may have made
// it. It fails if that overlaps another transfer. Links and mounts may have changed since the user gave the
// path, and a file system may not distinguish two names.
func (r *run) take() error {
	r.locate()
	if !r.state().writes() {
		return nil
	}
	_, err := r.node.transfers.placeFor(r.state().rec, r.Transfer)
	return err
}

// seeded updates the transfers that overlap a new seed. The files of a complete transfer belong to the user from
// now on: it becomes a seed, and neither repairs nor deletes them. Another seed of the same path is compared
// with the files.
func (r *registry) seeded(t *Transfer) error {
	p := t.state().place
	var errs []error
	for _, o := range r.all() {
		s := o.state()
		switch {
		case o == t || !s.overlaps(p):
		case !s.rec.Seed && o.For(t.User()), s.rec.Seed && s.place.Same(p) && (s.phase != Whole || s.full()):
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
	return unlessRemoved(t.do(func() error {
		running := t.state().running()
		if running {
			t.halt(errRestart)
		}
		err := t.update(func(r *metadata.Record) { r.Seed, r.Whole = true, true })
		if running {
			t.start(false, false)
		}
		return err
	}))
}
