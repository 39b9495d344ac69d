package peer

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// addition is an operation of Seed, Get or Join, which adds a transfer or resumes a known one.
type addition struct {
	t      *Transfer
	record metadata.Record
	place  vfs.Place         // of the record's root
	files  map[string][]byte // documents by the names of their files, nil for none
	reuse  bool              // take over existing files at the root
	setup                    // of a new transfer
	// join returns why the call cannot use a known transfer. It is nil if the call is for a recorded one.
	join func(known *Transfer) error
}

// add starts a transfer, or resumes the one of the same content.
func (n *Node) add(a addition) (*Transfer, error) {
	if a.record.User != nil && a.record.Priority == limit.High {
		return nil, errHigh
	}
	for {
		id := a.record.Link.Keys()[0]
		if a.open == nil {
			a.dir = n.transfers.dir(id)
		}
		t := newTransfer(n, id, a.record, a.setup)
		known, err := n.transfers.add(t, a.place)
		if err != nil {
			return nil, err
		}
		a.t = cmp.Or(known, t)
		err = a.t.do(func() (err error) {
			switch run := a.t.state().run; {
			case known == nil && run == nil:
				err = a.create()
			case a.open == nil:
				err = a.resume()
			case run == nil && a.t.open != nil:
				err = ErrUnknownTransfer // the call that added it is about to start it
			default:
				err = a.join(a.t)
			}
			if err == nil && a.t.open != nil {
				a.t.holds++
			}
			return err
		})
		switch {
		case err == nil:
			return a.t, a.t.SetPriority(a.record.Priority)
		case !errors.Is(err, ErrUnknownTransfer): // else it was removed since
			return nil, err
		}
	}
}

// create starts a new transfer.
func (a *addition) create() error {
	t := a.t
	created, err := a.keepFiles()
	if err == nil {
		err = t.update(func(*metadata.Record) {})
	}
	if err == nil {
		t.start(a.reuse, true)
		return nil
	}
	if created {
		err = errors.Join(err, os.RemoveAll(t.dir))
	}
	t.node.transfers.remove(t)
	t.change(func(s *state) { s.settle(err) })
	return err
}

// keepFiles writes the files of the transfer's directory, and reports whether it created that. An unrecorded transfer, which has
// no directory, keeps them in memory.
func (a *addition) keepFiles() (created bool, err error) {
	keep := a.t.Description().Set
	if a.t.dir != "" {
		err = os.Mkdir(a.t.dir, 0o700)
		if created = err == nil; err != nil && !errors.Is(err, os.ErrExist) {
			return false, err
		}
		keep = func(name string, b []byte) error { return datadir.WriteFile(filepath.Join(a.t.dir, name), b, 0o600) }
	}
	for _, name := range []string{metadata.ManifestFile, metadata.TorrentFile, metadata.PlanFile, store.JournalFile} {
		if b := a.files[name]; b != nil {
			if err := keep(name, b); err != nil {
				return created, err
			}
		}
	}
	return created, nil
}

// resume starts a known transfer again. It does nothing if the transfer is running and the call adds nothing.
func (a *addition) resume() error {
	t := a.t
	if t.dir == "" {
		return errUnrecorded
	}
	t.use.start()()
	if !t.For(a.record.User) {
		return &ElsewhereError{}
	}
	delete(a.files, store.JournalFile) // it has its own
	if _, err := a.keepFiles(); err != nil {
		return err
	}
	old := &t.state().rec
	a.record.Link = mergeLinks(old.Link, a.record.Link, t.ID)
	if link := a.record.Link; link.Coded != 0 && !link.InfoHash.IsZero() {
		return fmt.Errorf("%w: `mob rm` the content first to seed it the other way", errBothWays)
	}
	intact, err := a.intact()
	if err != nil {
		return err
	}
	same := old.Root == a.record.Root
	if !same {
		t.locate()
		same = t.state().place.Same(a.place)
	}
	missing := (old.Begun || old.Seed) && t.node.fs.missing(old.Root)
	if a.record.Seed {
		return a.resumeSeed(same, missing, intact)
	}
	return a.resumeGet(same, missing, intact)
}

// resumeGet is resume for a call of Get. The destination may be at the same place as the transfer, the transfer's
// files may be missing, and it may be intact, see intact.
func (a *addition) resumeGet(same, missing, intact bool) error {
	t, s := a.t, a.t.state()
	left := !missing && !same
	selected, err := a.selection(missing || left)
	if err != nil {
		return err
	}
	if left && !a.leave() {
		return &ElsewhereError{Root: s.rec.Root}
	}
	if missing = missing || left; missing {
		err := t.node.fs.checkFree(a.record.Root, a.reuse, a.record.User)
		if err == nil { // before the transfer is stopped, which may wait for its files
			err = t.node.transfers.checkApart(a.place, a.record, t)
		}
		if err != nil && left && s.running() {
			t.start(false, false)
		}
		if err != nil {
			return err
		}
	} else if s.rec.Seed || !t.node.fs.isLink(s.rec.Root) { // else the files were moved, and the link leads to them
		a.record.Root = s.rec.Root // it may be another name
	}
	s = t.state()
	if a.record.SpecialBits && !s.rec.SpecialBits && s.rec.Whole && !s.rec.Seed && !missing {
		_ = t.Description().Load() // a transfer that does not run may not have the manifest
		if m := t.Description().Manifest(); m != nil && m.SpecialBits() > 0 {
			return fmt.Errorf("%s was fetched without --special-bits: `mob rm --content` it, and get it again", s.rec.Root)
		}
	}
	same = slices.EqualFunc(s.rec.Selected, selected, metadata.Selection.Equal)
	applied := (s.rec.SpecialBits || !a.record.SpecialBits) && (s.rec.Permanent || !a.record.Permanent)
	unchanged := same && applied && (s.rec.Whole || s.rec.Link.String() == a.record.Link.String())
	if s.running() && !missing && intact && s.outcome.err == nil && unchanged {
		s.run.asked.Store(true)
		if s.full() {
			if _, unreadable, why := s.swarm.OutOfService(); unreadable > 0 {
				return why
			}
		}
		return nil
	}
	return a.restart(true, func(rec *metadata.Record) {
		if missing { // it starts over
			rec.Seed, rec.Begun, rec.Whole, rec.User, rec.FollowLinks = false, false, false, a.record.User, false
			rec.Completed = time.Time{}
		}
		if !same {
			rec.Selected, rec.Whole, rec.Completed = selected, false, time.Time{}
		}
		rec.SpecialBits, rec.InOrder = rec.SpecialBits || a.record.SpecialBits, a.record.InOrder
		rec.Permanent = rec.Permanent || a.record.Permanent
	})
}

// leave stops a get to another path that no call waits for and that has created nothing, and reports whether it has. Such a
// get failed, or the node resumed it at its start.
func (a *addition) leave() bool {
	t, s := a.t, a.t.state()
	created := func() bool { return t.state().rec.Begun && !t.node.fs.missing(s.rec.Root) }
	if created() || s.running() && s.run.asked.Load() {
		return false
	}
	t.halt(errRestart)
	if !created() {
		return true
	}
	t.start(false, false)
	return false
}

// resumeSeed is resume for a call of Seed. An intact copy at another path continues to be served. Otherwise
// the one that was just hashed is; if that fails, nothing changes. A seed that is still being checked may have been read before
// its files were put back.
func (a *addition) resumeSeed(same, missing, intact bool) error {
	t, s, rec := a.t, a.t.state(), a.record
	old := s.rec
	if len(old.Selected) > 0 { // it has only a part of the content
		old.Whole, old.Seed = false, false
	}
	healthy := intact && s.running()
	elsewhere := !same && !missing && !(old.Whole && !healthy)
	switch {
	case elsewhere && !old.Whole && (s.running() || old.Begun):
		return &ElsewhereError{Root: old.Root}
	case (elsewhere && old.Whole || same && old.Seed && s.phase == Whole) && healthy && old.Link.String() == rec.Link.String():
		return t.update(func(r *metadata.Record) {
			r.Added, r.Announce = rec.Added, either(rec.Announce, r.Announce) // its path means this content now
		})
	case elsewhere && old.Whole:
		a.record.Root, rec.Seed, rec.FollowLinks, rec.User = old.Root, old.Seed, old.FollowLinks, old.User
	case s.desc.Plain():
		a.record.Root, rec.FollowLinks = old.Root, old.FollowLinks
	default:
		if err := a.seedStore(); err != nil {
			return err
		}
	}
	a.reuse = false
	return a.restart(false, func(r *metadata.Record) {
		r.Seed, r.Begun, r.Whole, r.FollowLinks, r.User = rec.Seed, true, true, rec.FollowLinks, rec.User
		r.Selected = nil
		r.Announce = either(rec.Announce, r.Announce)
	})
}

// seedStore replaces the journal by one of the files that were just hashed, unless they changed since.
func (a *addition) seedStore() error {
	t := a.t
	if err := t.node.transfers.checkApart(a.place, a.record, t); err != nil {
		return err
	}
	d := t.Description()
	if err := d.Load(); d.Manifest() == nil {
		return errors.Join(errors.New("the manifest is not here"), err)
	}
	running := t.state().running()
	t.halt(errRestart) // it may be creating its journal
	st, err := store.Seed(t.dir, a.record.Root, d.Manifest(), t.files(a.record))
	if err == nil {
		err = st.Close()
	}
	if err != nil && running {
		t.start(false, false)
	}
	return err
}

// restart ends the run and starts another, at the record's root and with a changed record.
func (a *addition) restart(asked bool, change func(*metadata.Record)) error {
	t := a.t
	t.halt(errRestart)
	err := t.node.transfers.move(t, a.record, a.place)
	if err == nil {
		err = t.update(func(rec *metadata.Record) {
			change(rec)
			rec.Link, rec.Stopped, rec.Added = a.record.Link, false, a.record.Added
		})
	}
	if err != nil {
		t.change(func(s *state) { s.settle(err) })
		return err
	}
	t.origins = a.origins
	t.start(a.reuse, asked)
	return nil
}

// intact reports whether a complete transfer has every piece and entry, and whether another one neither waits for its
// files nor has every piece: then its files may have been compared before the call.
func (a *addition) intact() (bool, error) {
	s := a.t.state()
	if s.phase != Whole || s.disk() == nil {
		return !(s.phase == Checking && s.waiting != "") && !s.full(), nil
	}
	if !s.full() {
		return false, nil
	}
	look, err := s.disk().Look(a.t.node.ctx)
	return look.Intact(), err
}

// mergeLinks returns a new link with the missing fields of the old one. The two may name the content by
// different ids. The one that the transfer started with stays.
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
