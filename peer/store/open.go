package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Open resumes a transfer or a seed after a restart, with the arguments of
// [Create] or [Seed]. It stats every file but reads none: pieces that cannot be trusted
// become unverified or missing, see [Disk.Unverified]. Content that was complete and is not any
// more can be written to again, unless it is a seed.
//
// It fails with [ErrNoJournal], [ErrWrongContent], [ErrGone], [*AliasError], or
// [*UnreadableError] if the disk or the network fails. After ErrGone and UnreadableError,
// a later try may succeed; nothing was changed.
func Open(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	return open(dir, root, m, files, journal.CurrentBoot())
}

func open(dir, root string, m *proto.Manifest, files *Files, boot journal.BootID) (*Disk, error) {
	id, err := m.Digest()
	if err != nil {
		return nil, err
	}
	l := newLayout(m)
	j, err := journal.Open(files.fs, journalPath(dir), id, shapeOf(m, &l))
	if errors.Is(err, journal.ErrNone) || errors.Is(err, journal.ErrOther) {
		return nil, err
	}
	if err != nil {
		return nil, &UnreadableError{Path: journalPath(dir), Err: withoutPath(err)}
	}
	d := newDisk(m, j)
	o := opening{Disk: d, sameBoot: j.SameBoot(boot)}
	hasPieces := o.hasPieces(&l, boot)
	at, err := o.findRoot(files.fs, root, hasPieces)
	if err != nil {
		j.Close()
		return nil, err
	}
	defer at.close()
	if err := d.openTree(at, files); err != nil {
		return nil, err
	}
	if hasPieces {
		if err := o.checkThere(); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return o.start(boot)
}

// findRoot opens the destination. It creates the destination if it does not exist and no pieces were written to it.
func (d opening) findRoot(fsys vfs.FS, root string, hasPieces bool) (at *place, err error) {
	path, err := filepath.Abs(root)
	if d.journal.Seed() && err == nil {
		path, err = resolve(fsys, root)
	}
	begun := d.journal.Seed() || d.journal.Marked() || hasPieces
	if err == nil && begun {
		at, err = openPlace(fsys, path)
	} else if err == nil {
		at, err = openFree(fsys, path)
	}
	if err == nil {
		err = d.findIn(at, begun)
	}
	var unreadable *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && begun:
		err = fmt.Errorf("%s: %w", root, ErrGone)
	case errors.As(err, &unreadable):
		err = &UnreadableError{Path: root, Err: unreadable.Err}
	}
	if err != nil && at != nil {
		at.close()
	}
	return at, err
}

// findIn is findRoot for a place.
func (d opening) findIn(at *place, begun bool) error {
	err := at.check(d.m)
	if begun || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.journal.Sync(); err != nil { // as in Create
		return err
	}
	return at.create(d.m)
}

// hasPieces reports whether the journal has a piece of a file that a crash of the machine
// cannot have lost.
func (d opening) hasPieces(l *layout, boot journal.BootID) bool {
	for piece := range d.m.Pieces() {
		if !d.journal.Lasting(piece, boot) {
			continue
		}
		for file, after := l.pieceFiles(d.m, piece); file < after; file++ {
			if !l.pad(file) {
				return true
			}
		}
	}
	return false
}

// openTree opens the files of a store that has its journal. If it fails, it closes that.
func (d *Disk) openTree(at *place, files *Files) error {
	d.tree = newTree(at.path, d.m, files)
	d.tree.temp = tempPrefix(d.journal.Manifest())
	d.tree.opt.ours, d.tree.opt.fail = !d.journal.Seed(), d.fail
	if err := d.tree.open(at); err != nil {
		return errors.Join(err, d.journal.Close())
	}
	return nil
}

// checkThere returns [ErrGone] if none of the content's files is there.
func (d opening) checkThere() error {
	for file := range d.tree.layout.files() {
		if d.tree.layout.pad(file) {
			continue
		}
		if info, err := d.tree.stat(file); err != nil || info != nil {
			return err
		}
	}
	return fmt.Errorf("%s has none of the files: %w", d.tree.path, ErrGone)
}

// opening compares the files of a store with its journal. The store is not in use yet.
type opening struct {
	*Disk
	fresh    bool // the journal was just created: files that it does not have are the user's
	sameBoot bool // the machine was not started since the last records
}

// start compares the files with the journal. If it fails, it closes the store.
func (d opening) start(boot journal.BootID) (*Disk, error) {
	if err := errors.Join(d.journal.Boot(boot), d.inspect()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	for _, piece := range d.journal.Unmarked() {
		// Written before the restart, and maybe not flushed since.
		d.setDirty(piece)
		d.flush.unsynced += int64(d.m.PieceSize(piece))
	}
	return d.Disk, nil
}

// inspect makes the pieces of the files that differ from their records unverified. Pieces of a missing file are missing, but
// the journal keeps them until another file is created there: what is missing may be a mount.
func (d opening) inspect() error {
	l := &d.tree.layout
	keys, there := make([]uint64, 0, l.files()), true
	look := looker{t: d.tree}
	for file := range l.files() {
		d.files.update(file, func(f *fileRecord) { f.File = d.journal.File(d.tree.entry(file)) })
		if l.pad(file) {
			continue
		}
		info, err := look.stat(file)
		if err != nil {
			return err
		}
		if info == nil {
			there = false
			continue
		}
		if s := vfs.StatOf(info); s.Inode != 0 && s.Links == 1 {
			keys = append(keys, fileKey64(s))
		}
		d.tree.names.found(info)
		rec, err := d.inspectFile(file, info)
		if err != nil {
			return err
		}
		there = there && rec.state == fileFinal && info.Size() == l.size(file)
	}
	if !d.journal.Seed() {
		if err := d.tree.findAliases(keys); err != nil {
			return err
		}
	}
	d.loadPieces()
	if d.journal.Seed() {
		d.stage.Store(finished)
		return nil
	}
	if !there || !d.journal.Marked() || len(d.journal.Unmarked()) > 0 || d.verified.count()+d.unverified.count() < d.m.Pieces() {
		return nil
	}
	lacks, err := d.tree.lacksEntries()
	if !lacks {
		d.stage.Store(finished)
	}
	return err
}

// inspectFile compares a file with its record.
func (d opening) inspectFile(file int, info fs.FileInfo) (fileRecord, error) {
	rec, entry := d.files.at(file).File, d.tree.entry(file)
	size, seed := d.tree.layout.size(file), d.journal.Seed()
	if !seed && !d.fresh {
		rec = d.claim(file, rec, info)
	}
	if info.Size() != size || rec.Stamp != stampOf(info) {
		// It was changed or replaced since it was stamped, or since all of it was verified.
		rec.Touched = rec.Touched || rec.Made && (rec.Changed != 0 || d.tree.layout.every(d.m, file, d.journal.Verified))
		rec.Foreign = !seed && !rec.Owns(vfs.StatOf(info).Inode)
		rec.Stamp = stampOf(info)
		// A flush may have failed before the restart.
		d.tree.dropCache(file)
		// What the journal says now is true of the file as it is.
		if err := d.journal.Unverify(entry, rec); err != nil {
			return fileRecord{}, err
		}
	}
	return d.files.update(file, func(f *fileRecord) {
		f.File, f.state = rec, f.state.next(fileFound)
		if rec.Final && info.Size() == size {
			f.state = f.state.next(filePublished)
		}
	}), nil
}

// claim returns the record of a file that the journal does not have, if the journal lost its record in a crash.
func (d opening) claim(file int, f journal.File, info fs.FileInfo) journal.File {
	s, t, e := vfs.StatOf(info), d.tree, &d.m.Entries[d.tree.entry(file)]
	switch {
	case f.Foreign || f.Inode == s.Inode:
		return f
	case f.Inode == 0 && info.Size() == 0: // it was created, and nothing more
		f.Made = true
	case f.Changed != 0 && f.Changed == s.Changed && info.Size() == t.layout.size(file):
		// The file system has new inode numbers. The time alone may be that of a file that was made in the same tick.
	case f.Inode != 0 && t.inodeOf(t.tempName(t.fileName(file))) == f.Inode: // see separate
	case !d.sameBoot && (f.Inode != 0 && !f.Made || t.looksOurs(e, info)): // a power loss
	default:
		return f
	}
	f.Stamp = journal.Stamp{Inode: s.Inode}
	return f
}

// loadPieces sets what the journal has, except for pieces of missing files.
func (d opening) loadPieces() {
	for piece := range d.m.Pieces() {
		switch d.journal.State(piece) {
		case journal.Verified:
			d.verified.set(piece)
		case journal.Unverified:
			d.unverified.set(piece)
		}
	}
	d.unload(slices.DeleteFunc(d.files.all(func(f *fileRecord) bool { return f.state == fileGone }), d.tree.layout.pad))
}

// TakeOver has the store write to the files and links that are at the names of the content, where they differ from it.
// They stay the user's: Remove leaves them. It must be called before the store is used.
func (d *Disk) TakeOver() error {
	return opening{Disk: d}.found(func(e *proto.Entry) bool { return e.Kind == proto.File || e.Kind == proto.Symlink }, d.journal.SetFile)
}

// foundAll records what is at the destination of a new transfer as the user's. The pieces of its files are unverified. With
// takeOver, the store may write to them.
func (d opening) foundAll(takeOver bool) error {
	if !d.tree.single() {
		info, err := d.tree.lstat(".")
		if err != nil {
			return d.tree.withPath(".", err)
		}
		err = d.journal.SetFile(len(d.m.Entries), journal.File{Stamp: journal.Stamp{Inode: vfs.StatOf(info).Inode}})
		if err != nil {
			return err
		}
	}
	for file := range d.tree.layout.files() {
		if d.tree.layout.pad(file) {
			if err := d.journal.Found(d.tree.entry(file), journal.File{}); err != nil {
				return err
			}
		}
	}
	some := func(e *proto.Entry) bool {
		return e.Kind != proto.Pad && (takeOver || e.Kind == proto.Dir || e.Size > 0)
	}
	return d.found(some, func(entry int, f journal.File) error {
		if d.m.Entries[entry].Size == 0 {
			return d.journal.SetFile(entry, f)
		}
		f.Foreign = !takeOver
		return d.journal.Found(entry, f)
	})
}

// found calls record with some entries that exist, as the user's.
func (d opening) found(some func(*proto.Entry) bool, record func(entry int, f journal.File) error) error {
	t := d.tree
	for i := range t.m.Entries {
		e := &t.m.Entries[i]
		if !some(e) {
			continue
		}
		info, err := t.lstat(t.name(i))
		if err != nil && notThere(err) {
			continue
		}
		if err != nil {
			return &UnreadableError{Path: t.fullPath(t.name(i)), Err: withoutPath(err)}
		}
		f := d.journal.File(i)
		if f.Owns(vfs.StatOf(info).Inode) || e.Size > 0 && !info.Mode().IsRegular() {
			continue
		}
		is := journal.File{}
		if is.Inode = vfs.StatOf(info).Inode; is.Inode == f.Inode {
			is.Changed = f.Changed
		}
		if err := record(i, is); err != nil {
			return err
		}
		if file := t.layout.file(i); file >= 0 {
			d.files.update(file, func(f *fileRecord) { f.File, f.state = is, f.state.next(pieceMissing) })
		}
	}
	return nil
}

// looksOurs reports whether the file of an entry has a mode that the store gives it.
func (t *tree) looksOurs(e *proto.Entry, info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	return mode == transferFileMode || mode == t.mode(e, info).Perm()
}

// inodeOf returns the inode number of the file with a name, 0 if there is none.
func (t *tree) inodeOf(name string) uint64 {
	info, err := t.root.Lstat(name)
	if err != nil {
		return 0
	}
	return vfs.StatOf(info).Inode
}
