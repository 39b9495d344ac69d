package peer

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Selection chooses files of a transfer.
type Selection = metadata.Selection

// LeftOut counts what a transfer does not fetch.
type LeftOut = metadata.LeftOut

var (
	errSelectCoded  = errors.New("--include and --exclude: coded blocks are of all files, so a part of them cannot be fetched")
	errSelectSeeded = errors.New("a part of the content is seeded here: `mob rm` it first to fetch more")
)

// Selected returns a selection that adds nothing to the transfer.
func (t *Transfer) Selected() (s Selection) {
	if all := t.state().rec.Selected; len(all) > 0 {
		s = all[0]
	}
	return s
}

// selectFiles records which files the transfer fetches.
func (r *run) selectFiles() (err error) {
	rec := &r.state().rec
	if len(rec.Selected) > 0 && rec.Link.Coded != 0 {
		return errSelectCoded
	}
	if r.selected, err = rec.Selected.Of(r.Manifest()); err != nil {
		return err
	}
	leftOut := metadata.LeftOutOf(r.selected, r.Manifest())
	if leftOut == rec.LeftOut {
		return nil
	}
	return r.update(func(rec *metadata.Record) { rec.LeftOut = leftOut })
}

// selection returns what a known transfer fetches after a call of Get that also chooses files. What a failed or stopped transfer did
// not start on is not fetched for an earlier call.
func (a *addition) selection(missing bool) (metadata.Selections, error) {
	old, d := &a.t.state().rec, a.t.Description()
	if d.Manifest() == nil {
		_ = d.Load() // the next run reports an error
	}
	m := d.Manifest()
	if m != nil {
		if _, err := a.record.Selected.Of(m); err != nil {
			return nil, err
		}
	}
	switch {
	case missing, !old.Begun && !a.t.state().running(): // such as after a selection without files
		return a.record.Selected, nil
	case len(old.Selected) == 0 || len(a.record.Selected) > 0 && slices.ContainsFunc(old.Selected, a.record.Selected[0].Equal):
		return old.Selected, nil
	case old.Seed:
		return nil, errSelectSeeded
	}
	var all metadata.Selections
	if len(a.record.Selected) > 0 {
		all = slices.Concat(old.Selected, a.record.Selected)
	}
	if m == nil {
		return all, nil
	}
	return a.widen(m, old.Selected, all)
}

// widen returns all, or old if that has the same entries. It fails with a [*store.ExistsError] if there is something at the path
// of a left-out file that is now selected, unless reuse is set.
func (a *addition) widen(m *proto.Manifest, old, all metadata.Selections) (metadata.Selections, error) {
	before, err := old.Of(m)
	if err != nil {
		return nil, err
	}
	after, err := all.Of(m)
	if err != nil {
		return nil, err
	}
	root, same := a.t.state().rec.Root, true
	for i, e := range after.Entries {
		if !before.LeavesOut(i) || after.LeavesOut(i) {
			continue
		}
		same = false
		if e.Kind != proto.File || a.reuse {
			continue
		}
		path := filepath.Join(root, filepath.FromSlash(e.Path))
		if _, err := a.t.node.fs.lstat(path); err == nil {
			return nil, &store.ExistsError{Path: path, Inside: true}
		}
	}
	if same {
		return old, nil
	}
	return all, nil
}
