package peer

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// addition is what a call of Seed or Get says of a transfer.
type addition struct {
	record  metadata.Record
	place   vfs.Place         // of the record's root
	files   map[string][]byte // to write to the transfer's directory, unless they are nil
	reuse   bool              // take over existing files at the root
	missing bool              // the content of a known transfer does not exist
}

// add begins a transfer, or resumes the one of the same content.
func (n *Node) add(a addition) (*Transfer, error) {
	for {
		t := newTransfer(n, a.record.Link.Keys()[0], a.record)
		known, err := n.transfers.add(t, a.place)
		if err != nil {
			return nil, err
		}
		fresh := known == nil
		if !fresh {
			t = known
		}
		removed, err := t.addOnce(a, fresh)
		if err != nil {
			return nil, err
		}
		if !removed {
			return t, nil
		}
	}
}

// addOnce is add for a transfer that reserve returned. It reports whether that was removed in
// between.
func (t *Transfer) addOnce(a addition, fresh bool) (removed bool, err error) {
	done, err := t.operate()
	if err != nil {
		return false, err
	}
	defer done()
	if !t.node.transfers.has(t) {
		return true, nil
	}
	if t.dir == "" {
		return false, errJoined
	}
	t.use()()
	if !fresh && !t.For(a.record.User) {
		return false, &ElsewhereError{}
	}
	created, err := t.add(a, fresh)
	if err != nil && fresh {
		if created {
			err = errors.Join(err, os.RemoveAll(t.dir))
		}
		t.node.transfers.remove(t)
		t.giveUp(err)
	}
	return false, err
}

// add writes what is known of the transfer, and starts it. It reports whether it created the
// transfer's folder. The caller has the operation lock.
func (t *Transfer) add(a addition, fresh bool) (created bool, err error) {
	err = os.Mkdir(t.dir, 0o700)
	if created = err == nil; err != nil && !errors.Is(err, os.ErrExist) {
		return false, err
	}
	for name, b := range a.files {
		if b == nil {
			continue
		}
		if err := datadir.WriteFile(filepath.Join(t.dir, name), b, 0o600); err != nil {
			return created, err
		}
	}
	if !fresh {
		return created, t.resume(a)
	}
	if err := t.update(func(*metadata.Record) {}); err != nil {
		return created, err
	}
	t.start(opening{reuse: a.reuse})
	return created, nil
}

// resume starts a known transfer again, with what a new call says of it. It does nothing if the
// transfer is running and the call adds nothing.
func (t *Transfer) resume(a addition) error {
	old, r := t.record(), a.record
	link := mergeLinks(old.Link, r.Link, t.ID)
	if link.Coded != 0 && !link.InfoHash.IsZero() {
		return fmt.Errorf("%w: `mob rm` the content first to seed it the other way", errBothWays)
	}
	intact, err := t.intact()
	if err != nil {
		return err
	}
	same := old.Root == r.Root
	if !same {
		t.spot.look(old.Root)
		same = t.spot.same(a.place)
	}
	known := addition{record: r, place: a.place, reuse: a.reuse}
	known.record.Link = link
	known.missing = (old.Begun || old.Seed) && t.node.missing(old.Root)
	if r.Seed {
		return t.resumeSeed(known, same, intact)
	}
	return t.resumeGet(known, same, intact)
}

// resumeGet is resume for a call of Get.
func (t *Transfer) resumeGet(a addition, same, intact bool) error {
	old, r := t.record(), a.record
	if a.missing {
		if err := t.node.checkFree(r.Root, a.reuse, r.User); err != nil {
			return err
		}
	} else if same {
		r.Root = old.Root // it may be another name
	} else if t.running() || old.Begun {
		return &ElsewhereError{Root: old.Root}
	}
	if t.running() && !a.missing && intact && !t.foundDifferent() && (old.Whole || old.Link.String() == r.Link.String()) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.mu.opening.asked = true
		return nil
	}
	t.halt(errRestart)
	err := t.move(r, a.place)
	if err == nil {
		// The transfer may have changed the record until it ended.
		err = t.update(func(rec *metadata.Record) {
			if a.missing { // it starts over
				rec.Seed, rec.Begun, rec.Whole, rec.User, rec.FollowLinks = false, false, false, r.User, false
				rec.Completed = time.Time{}
			}
			rec.Link = mergeLinks(rec.Link, r.Link, t.ID)
			rec.Stopped, rec.Added = false, r.Added
			rec.SpecialBits = rec.SpecialBits || r.SpecialBits
		})
	}
	return t.restart(err, opening{reuse: a.reuse, asked: true})
}

// resumeSeed is resume for a call of Seed. A copy at another path that is intact stays the one that is served. Otherwise
// it is the one that was just hashed; if that fails, nothing changes.
func (t *Transfer) resumeSeed(a addition, same, intact bool) error {
	old, r := t.record(), a.record
	elsewhere := !same && !a.missing && !(old.Whole && !(intact && t.running()))
	switch {
	case elsewhere && !old.Whole && (t.running() || old.Begun):
		return &ElsewhereError{Root: old.Root}
	case (elsewhere && old.Whole || same && old.Seed) && intact && t.running() && old.Link.String() == r.Link.String():
		return t.update(func(rec *metadata.Record) {
			rec.Added, rec.Announce = r.Added, either(r.Announce, rec.Announce) // its path means this content now
		})
	case elsewhere && old.Whole:
		r = old
		r.Link, r.Added = a.record.Link, a.record.Added
	case t.Description().Plain():
		r.Root, r.FollowLinks = old.Root, old.FollowLinks
	default:
		if err := t.seedStore(a); err != nil {
			return err
		}
	}
	t.halt(errRestart)
	err := t.move(r, a.place)
	if err == nil {
		err = t.update(func(rec *metadata.Record) {
			rec.Seed, rec.Begun, rec.Whole, rec.FollowLinks, rec.User = r.Seed, true, true, r.FollowLinks, r.User
			rec.Link = mergeLinks(rec.Link, r.Link, t.ID)
			rec.Announce = either(a.record.Announce, rec.Announce)
			rec.Stopped, rec.Added = false, r.Added
		})
	}
	return t.restart(err, opening{})
}

// seedStore replaces the journal by one of the files that were just hashed, unless they changed since.
func (t *Transfer) seedStore(a addition) error {
	if err := t.node.transfers.checkApart(a.place, a.record, t); err != nil {
		return err
	}
	d := t.Description()
	if err := d.Load(); d.Manifest() == nil {
		return errors.Join(errors.New("the manifest is not here"), err)
	}
	st, err := store.Seed(t.dir, a.record.Root, d.Manifest(), t.filesOf(a.record))
	if err != nil {
		return err
	}
	return st.Close()
}

// restart starts a transfer that was halted, unless that failed.
func (t *Transfer) restart(err error, o opening) error {
	if err != nil {
		t.giveUp(err)
		return err
	}
	t.start(o)
	return nil
}

// intact reports whether a complete transfer has every piece and entry, and whether another neither waits for its files nor
// has every piece: then its files may have been compared before the call.
func (t *Transfer) intact() (bool, error) {
	t.mu.Lock()
	phase, disk, m := t.mu.phase, t.mu.disk, t.mu.desc.Manifest()
	waits := phase == Checking && t.mu.waiting != ""
	ends := phase == Fetching && t.mu.store != nil && t.mu.store.Count() == m.Pieces()
	t.mu.Unlock()
	if phase != Whole || disk == nil {
		return !waits && !ends, nil
	}
	if !t.sound() {
		return false, nil
	}
	state, err := disk.Look(t.node.ctx)
	return state.Intact(), err
}

// foundDifferent reports whether the outcome is that an entry differed.
func (t *Transfer) foundDifferent() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.outcome.settled() && t.mu.outcome.err != nil
}

// sound reports whether no piece of a content that was whole is lacking.
func (t *Transfer) sound() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.mu.desc.Manifest()
	return t.mu.phase != Whole || t.mu.store == nil || m == nil || t.mu.store.Count() == m.Pieces()
}

// missing reports whether there is nothing at a path.
func (n *Node) missing(path string) bool {
	_, err := n.fs.lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// move gives a transfer that has created nothing yet the root of a record, which is at a place.
func (t *Transfer) move(r metadata.Record, p vfs.Place) error {
	t.node.transfers.mu.Lock()
	defer t.node.transfers.mu.Unlock()
	if t.record().Root == r.Root {
		return nil
	}
	if err := t.node.transfers.conflict(p, r, t); err != nil {
		return err
	}
	t.spot.set(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.rec.Root = r.Root
	return nil
}

// mergeLinks returns a new link of a content, completed with what only the old one says. The two
// may name the content by different ids. That which the transfer began with stays.
func mergeLinks(old, link *proto.Link, id cid.Cid) *proto.Link {
	l := *link
	if !l.Manifest.Defined() {
		l.Manifest = old.Manifest
	}
	if l.InfoHash.IsZero() || old.InfoHash.CID().Equals(id) {
		l.InfoHash = old.InfoHash
	}
	l.Name, l.Length = cmp.Or(l.Name, old.Name), cmp.Or(l.Length, old.Length)
	if l.Coded == 0 && !l.Plan.Defined() {
		l.Coded, l.Strategy = old.Coded, old.Strategy
	}
	if !l.Plan.Defined() && l.Coded == 0 {
		l.Plan = old.Plan
	}
	l.Trackers, l.Peers = either(l.Trackers, old.Trackers), either(l.Peers, old.Peers)
	l.Announce, l.TorrentPeers = either(l.Announce, old.Announce), either(l.TorrentPeers, old.TorrentPeers)
	return &l
}

// either returns the first list, or the second if that is empty.
func either[T any](first, second []T) []T {
	if len(first) > 0 {
		return first
	}
	return second
}
