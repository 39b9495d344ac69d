package store

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// What is how an entry on the disk differs from the content.
type What string

// Kinds of differences.
const (
	Gone     What = "gone"
	Replaced What = "replaced" // by another kind of file
	Cut      What = "cut"      // shorter than the content
	Grown    What = "grown"    // longer than the content
	// Changed is a link to another target, or a file that was changed or replaced since its pieces were verified. The
	// bytes of the file may be right.
	Changed  What = "changed"
	NoAccess What = "unreadable" // cannot be compared at present, see [Disk.Differences]
)

// Difference is an entry that is not what the manifest and the journal say. Its JSON is an interface for scripts.
type Difference struct {
	Path string `json:"path"` // in the content; the content's name if it is a single file
	What What   `json:"what"`
}

// State describes the entries of the content on the disk, without its bytes.
type State struct {
	// Away is set if the path of the content leads to another directory than the open one, or to none. Nothing else
	// is known then.
	Away bool
	// Different lists the first 100 entries that differ, and More counts the remaining ones.
	Different []Difference
	More      int
	At        time.Time
}

// Intact reports whether the content is at its path and nothing differs.
func (s *State) Intact() bool { return !s.Away && len(s.Different) == 0 }

const maxDifferent = 100

// Look compares the names, kinds, sizes and stamps of all entries with the content, which was complete. It reads no file.
// Files without a verified piece are left out. The store may be in use. Look fails with an [*UnreadableError] if the
// disk cannot be read at present.
func (d *Disk) Look(ctx context.Context) (State, error) {
	s := State{At: time.Now()}
	found, away, err := d.compare(ctx, comparison{empty: true, readable: true})
	shown := min(len(found), maxDifferent)
	s.Away, s.Different, s.More = away, slices.Clone(found[:shown]), len(found)-shown
	return s, err
}

// Differences is Look without a bound, and continues after entries that cannot be read. If the content was complete, it
// compares all entries, otherwise only the files with a verified piece.
func (d *Disk) Differences(ctx context.Context, complete bool) (all []Difference, away bool, err error) {
	return d.compare(ctx, comparison{empty: complete, all: complete})
}

// CheckPlace fails with an [*UnreadableError], and [ErrAway], if the path of the content does not lead to the files of the
// store any more.
func (d *Disk) CheckPlace() error {
	away, err := d.tree.isAway()
	if away {
		return cannotRead(d.tree.path, ErrAway)
	}
	return err
}

// comparison selects the entries that are compared: the files with a verified piece, and more.
type comparison struct {
	all      bool // all files
	empty    bool // the entries without bytes
	readable bool // the comparison fails at an entry that cannot be read
}

// compare returns the entries that differ.
func (d *Disk) compare(ctx context.Context, c comparison) (found []Difference, away bool, err error) {
	t := d.tree
	if away, err = t.isAway(); away || err != nil {
		return nil, away, err
	}
	look := looker{t: t}
	missing := func(piece int) bool { return !d.verified.has(piece) }
	changed := func(file int, info fs.FileInfo) bool {
		rec := d.files.at(file)
		return rec.left() && !rec.fits(info)
	}
	for i := range t.m.Entries {
		hasBytes := t.size(i) > 0
		if t.pad(i) || !hasBytes && !c.empty || hasBytes && !c.all && t.every(i, missing) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		info, err := look.find(i)
		what := NoAccess
		if err == nil {
			what, err = t.difference(i, info)
		}
		switch {
		case err != nil && c.readable:
			return nil, false, err
		case err != nil:
			what = NoAccess
		case what == "" && hasBytes && changed(i, info):
			what = Changed
		case what == "":
			continue
		}
		path := t.m.Entries[i].Path
		if t.single() {
			path = t.m.Name
		}
		found = append(found, Difference{path, what})
	}
	return found, false, nil
}

// difference returns how an entry differs, of which info is nil or what exists.
func (t *tree) difference(entry int, info fs.FileInfo) (What, error) {
	e := &t.m.Entries[entry]
	switch {
	case e.Kind == proto.Symlink && vfs.Follows(t.files.fs):
		return "", nil // it is made for the copies
	case info == nil:
		return Gone, nil
	case e.Kind == proto.Dir && !info.IsDir(), e.Kind == proto.File && !info.Mode().IsRegular(),
		e.Kind == proto.Symlink && info.Mode().Type() != fs.ModeSymlink:
		return Replaced, nil
	case e.Kind == proto.Dir:
		return "", nil
	case e.Kind == proto.Symlink:
		target, err := t.readlink(t.name(entry))
		if err == nil && filepath.ToSlash(target) != e.Target {
			return Changed, nil
		}
		return "", err
	case info.Size() < e.Size:
		return Cut, nil
	case info.Size() > e.Size:
		return Grown, nil
	}
	return "", nil
}

// isAway reports whether the path of the content leads to another directory than the open root, or to none.
func (t *tree) isAway() (bool, error) {
	open, err := t.lstat(".")
	if err != nil {
		return false, cannotRead(t.dir(), err)
	}
	there, err := t.files.fs.Stat(t.dir())
	switch {
	case err == nil:
		return !vfs.SameFile(open, there), nil
	case notThere(err):
		return true, nil
	}
	return false, cannotRead(t.dir(), err)
}

// readlink returns the target of a symbolic link. It fails with an [*UnreadableError].
func (t *tree) readlink(name string) (string, error) {
	target, err := permit(t, filepath.Dir(name), func() (string, error) { return t.root.Readlink(name) })
	if err != nil {
		err = cannotRead(t.fullPath(name), err)
	}
	return target, err
}

// Stamps are the states of files at one moment.
type Stamps map[int]journal.Stamp

// Changed returns the stamps of the files that were changed since the store left or verified them. See Accept.
func (d *Disk) Changed() Stamps {
	changed, last := make(Stamps), int64(0)
	for file := range d.tree.all() {
		rec := d.files.at(file)
		if !rec.left() {
			continue
		}
		if info, err := d.tree.stat(file); err == nil && info != nil && !rec.fits(info) {
			changed[file] = stampOf(info)
			last = max(last, changed[file].Changed)
		}
	}
	d.tree.awaitTick(last) // before the files are read
	return changed
}

// Accept records stamps that Changed returned, for the files whose pieces have all been read since then and are good. Look
// does not report these files any more.
func (d *Disk) Accept(changed Stamps, good []bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed = maps.Clone(changed)
	for file := range changed {
		if !d.tree.every(file, func(piece int) bool { return good[piece] }) {
			delete(changed, file)
			continue
		}
		d.files.update(file, func(f *fileRecord) { f.foreign, f.written = false, false })
	}
	return d.recordStamps(changed)
}

// Foreign reports for each piece whether it is in a published file that another program changed before the store wrote to
// it. Such a piece may be damaged.
func (d *Disk) Foreign() []bool {
	foreign := make([]bool, d.m.Pieces())
	for _, file := range d.files.all(func(f *fileRecord) bool { return f.foreign && f.state == fileFinal }) {
		first, after := d.tree.filePieces(file)
		for piece := first; piece < after; piece++ {
			foreign[piece] = true
		}
	}
	return foreign
}

// stampOf returns the stamp of the state in which a file is.
func stampOf(info fs.FileInfo) journal.Stamp {
	s := vfs.StatOf(info)
	return journal.Stamp{Changed: s.Changed, Inode: s.Inode}
}

// lookAhead is the number of entries that a looker looks at with one call.
const lookAhead = 64

// looker is find for the entries of a tree in ascending order. It looks at some of the next entries
// too, which takes a third of the calls for neighbors in a directory.
type looker struct {
	t     *tree
	first int
	infos []fs.FileInfo // of the entries from first on
}

// find is the tree's find. The answer may be as old as the one to the lookAhead calls before.
func (l *looker) find(entry int) (fs.FileInfo, error) {
	if entry < l.first || entry >= l.first+len(l.infos) {
		entries := l.t.m.Entries
		names := []string{l.t.name(entry)}
		for i := entry + 1; i < min(entry+lookAhead, len(entries)) && entries[i].Kind != proto.Pad; i++ {
			names = append(names, l.t.name(i))
		}
		l.first, l.infos = entry, l.t.root.LstatAll(names)
	}
	if info := l.infos[entry-l.first]; info != nil {
		return info, nil
	}
	return l.t.find(l.t.name(entry))
}
