package peer

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/peer/swarm"
)

// registry holds the transfers of a node.
type registry struct {
	data  string     // directory of the node
	mu    sync.Mutex // nothing under it waits for a disk, the network or a channel
	byID  map[cid.Cid]*Transfer
	ended swarm.Totals // of removed transfers
	looks looks        // at the places of all transfers
}

// dir returns the directory of the state of a transfer.
func (r *registry) dir(id cid.Cid) string { return filepath.Join(r.data, "transfers", id.String()) }

// find returns the transfer with one of these keys, nil if there is none. A
// transfer that started with a key takes precedence over one that learned it later.
func (r *registry) find(keys ...cid.Cid) *Transfer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findLocked(keys)
}

func (r *registry) findLocked(keys []cid.Cid) *Transfer {
	for _, key := range keys {
		if t := r.byID[key]; t != nil {
			return t
		}
	}
	for _, t := range r.byID {
		if slices.ContainsFunc(t.Link().Keys(), func(key cid.Cid) bool { return slices.Contains(keys, key) }) {
			return t
		}
	}
	return nil
}

// byKey returns the transfer with a binary key, nil if there is none.
func (r *registry) byKey(key []byte) *Transfer {
	id, err := cid.Cast(key)
	if err != nil {
		return nil
	}
	return r.find(id)
}

// swarm returns the running swarm with a binary key, nil if there is none.
func (r *registry) swarm(key []byte) *swarm.Swarm {
	if t := r.byKey(key); t != nil {
		return t.state().swarm
	}
	return nil
}

// all returns the transfers in the order in which they were added.
func (r *registry) all() []*Transfer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Values(r.byID), func(a, b *Transfer) int {
		return cmp.Or(a.state().rec.Added.Compare(b.state().rec.Added), cmp.Compare(a.ID.KeyString(), b.ID.KeyString()))
	})
}

// add adds a transfer at a place, unless the node has a transfer of its content, which it returns.
func (r *registry) add(t *Transfer, p vfs.Place) (known *Transfer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.findLocked(t.Link().Keys()); known != nil {
		return known, nil
	}
	if err := r.conflict(p, t.state().rec, t); err != nil {
		return nil, err
	}
	t.change(func(s *state) { s.place = p })
	r.byID[t.ID] = t
	return nil, nil
}

// move gives a transfer that does not run the root of a record, which is at a place.
func (r *registry) move(t *Transfer, rec metadata.Record, p vfs.Place) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.state().rec.Root == rec.Root {
		return nil
	}
	if err := r.conflict(p, rec, t); err != nil {
		return err
	}
	t.change(func(s *state) { s.rec.Root, s.place = rec.Root, p })
	return nil
}

// put adds a transfer.
func (r *registry) put(t *Transfer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byID[t.ID] = t
}

func (r *registry) has(t *Transfer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[t.ID] == t
}

func (r *registry) remove(t *Transfer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended.Add(&t.state().past)
	delete(r.byID, t.ID)
}

// checkApart looks at all places, and fails if the files of a record may not be at a place because of a transfer
// other than t.
func (r *registry) checkApart(p vfs.Place, rec metadata.Record, t *Transfer) error {
	r.locate()
	return r.checkSeen(p, rec, t)
}

// checkSeen is checkApart for the places seen last.
func (r *registry) checkSeen(p vfs.Place, rec metadata.Record, t *Transfer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conflict(p, rec, t)
}

// conflict is checkSeen. Files that are only read may overlap. The caller has the lock.
func (r *registry) conflict(p vfs.Place, rec metadata.Record, t *Transfer) error {
	for _, o := range r.byID {
		s := o.state()
		if o == t || rec.Seed && !s.writes() {
			continue
		}
		if rec.Root != "" && s.rec.Root == rec.Root || s.overlaps(p) {
			return conflictError(o, p, rec)
		}
	}
	return nil
}

// conflictError returns the error of a record whose files cannot be at a place because of a transfer.
func conflictError(t *Transfer, p vfs.Place, r metadata.Record) error {
	root, of, same := t.state().rec.Root, fmt.Sprintf("another transfer (%s)", t.ID), t.state().place.Same(p)
	remedy := "choose another path, or `mob rm` that transfer first"
	if !t.For(r.User) {
		root, of, remedy = "a directory", "a transfer of another user", "choose another path"
	}
	switch {
	case r.Seed:
		return fmt.Errorf("%s cannot be seeded: %s fetches to %s: wait for it, or `mob rm` it first", r.Root, of, root)
	case same && r.Root == root:
		return fmt.Errorf("%s belongs to %s: %s", root, of, remedy)
	}
	return fmt.Errorf("%s overlaps %s, which belongs to %s: %s", r.Root, root, of, remedy)
}

// newest returns the transfer for a user at a path that was added last, nil if there is none. The transfer may have
// been given another path to the same place.
func (r *registry) newest(path string, u *vfs.User) *Transfer {
	at := func(here func(*Transfer) bool) *Transfer {
		for _, t := range slices.Backward(r.all()) {
			if t.For(u) && here(t) {
				return t
			}
		}
		return nil
	}
	r.locate()
	var p vfs.Place
	if t := at(func(t *Transfer) bool { return t.state().rec.Root == path }); t != nil {
		p = t.state().place // PlaceOf would hang if its disk does
	} else if seen, err := vfs.PlaceOf(vfs.OS{}, path); err == nil {
		p = seen
	}
	return at(func(t *Transfer) bool { return t.state().rec.Root == path || t.state().place.Same(p) })
}
