package peer

import (
	"errors"
	"path/filepath"

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

// selection returns what a known transfer fetches after a call of Get, which adds what it chooses. What a failed or stopped
// transfer did not start on is not fetched for an earlier call. It fails with a [*store.ExistsError] if
// something of another kind is at the path of a left-out file or directory that is now chosen, or, unless reuse is set, a file.
func (a *addition) selection(missing bool) (metadata.Selections, error) {
	old, chosen, d := &a.t.state().rec, a.record.Selected, a.t.Description()
	all, fresh := old.Selected.Add(chosen), missing || !old.Begun && !a.t.state().running() // such as after one without files
	if fresh {
		all = chosen
	}
	if d.Manifest() == nil {
		_ = d.Load() // the next run reports an error
	}
	m := d.Manifest()
	if m == nil {
		return all, nil
	}
	part, err := chosen.Of(m)
	if err != nil || fresh {
		return all, err
	}
	before, err := old.Selected.Of(m)
	if err != nil {
		return nil, err
	}
	wider := false
	for i, e := range part.Entries {
		if part.LeavesOut(i) || !before.LeavesOut(i) {
			continue
		}
		if old.Seed {
			return nil, errSelectSeeded
		}
		wider = true
		path := filepath.Join(old.Root, filepath.FromSlash(e.Path))
		info, err := a.t.node.fs.lstat(path)
		if err != nil {
			continue // the next run reports another error than that there is nothing
		}
		otherKind := e.Kind == proto.File && !info.Mode().IsRegular() || e.Kind == proto.Dir && !info.IsDir()
		if otherKind || e.Kind == proto.File && !a.reuse {
			return nil, &store.ExistsError{Path: path, Inside: true, OtherKind: otherKind}
		}
	}
	if !wider {
		return old.Selected, nil
	}
	return all, nil
}
