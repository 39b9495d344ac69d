package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

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
	return open(dir, root, m, files, journal.CurrentBoot(), false)
}

// OpenEmptied is [Open] for a destination whose files the user may have deleted, all of them: they are missing. It fails with
// ErrGone if the destination does not exist.
func OpenEmptied(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	return open(dir, root, m, files, journal.CurrentBoot(), true)
}

// IsSeed reports whether a store is of content that is seeded in place: it never writes there.
func IsSeed(d *Disk) bool { return d.journal.Seed() }

func open(dir, root string, m *proto.Manifest, files *Files, boot journal.BootID, emptied bool) (*Disk, error) {
	d := opening{Disk: newDisk(m, files)}
	err := d.openJournal(dir)
	if errors.Is(err, journal.ErrNone) || errors.Is(err, journal.ErrOther) {
		return nil, err
	}
	if err != nil {
		return nil, cannotRead(filepath.Join(dir, JournalFile), err)
	}
	d.sameBoot = d.journal.SameBoot(boot)
	hasPieces := d.hasPieces(boot)
	started := d.journal.Seed() || d.journal.Marked() || hasPieces
	at, err := d.findRoot(files.fs, root)
	if !started && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		_ = d.journal.Close() // it is replaced
		again, err := Again(dir, root, m, files)
		return again, openError(root, err, false)
	}
	if err != nil {
		return nil, errors.Join(openError(root, err, started), d.journal.Close())
	}
	defer at.close()
	if err := d.openTree(at); err != nil {
		return nil, err
	}
	if hasPieces {
		if err := d.checkThere(emptied); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	if err := d.start(boot); err != nil {
		return nil, err
	}
	return d.Disk, nil
}

// findRoot opens the directory above the destination, which exists.
func (d opening) findRoot(fsys vfs.FS, root string) (at *place, err error) {
	if d.journal.Seed() {
		root, err = resolve(fsys, root)
	}
	if err == nil {
		at, err = openPlace(fsys, root)
	}
	if err != nil {
		return nil, err
	}
	if err := at.check(d.m); err != nil {
		at.close()
		return nil, err
	}
	return at, nil
}

// openError returns why the destination of a transfer was not opened, which has written pieces if it was started.
func openError(root string, err error, started bool) error {
	if _, exists := errors.AsType[*ExistsError](err); exists && started {
		return &ChangedError{Path: root, Reason: "it is a link or another kind of file now: put it back, or get the link again with its new path"}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", root, ErrGone)
	}
	if unreadable, ok := errors.AsType[*fs.PathError](err); ok {
		return &UnreadableError{Path: root, Err: unreadable.Err}
	}
	return err
}

// hasPieces reports whether the journal has a piece of a file that a crash of the machine
// cannot have lost.
func (d opening) hasPieces(boot journal.BootID) bool {
	for piece := range d.m.Pieces() {
		if !d.journal.Lasting(piece, boot) {
			continue
		}
		for range d.tree.filesOf(piece) {
			return true
		}
	}
	return false
}

// openTree opens the files of a store that has its journal. If it fails, it closes that.
func (d opening) openTree(at *place) error {
	d.tree.temp = tempPrefix(d.journal.Manifest())
	d.tree.opt.ours, d.tree.opt.fail = !d.journal.Seed(), d.fail
	if err := d.tree.open(at); err != nil {
		return errors.Join(err, d.journal.Close())
	}
	return nil
}

// recordRoot records the content's directory.
func (d opening) recordRoot(made bool) error {
	info, err := d.tree.lstat(".")
	if err != nil {
		return d.tree.withPath(".", err)
	}
	root := journal.File{Made: made, Foreign: !made && !d.takeOver, Stamp: journal.Stamp{Inode: vfs.StatOf(info).Inode}}
	if made {
		root.Born = d.tree.root.Born(".")
	}
	return d.setRecord(len(d.m.Entries), func(f *fileRecord) { f.File = root })
}

// checkThere returns [ErrGone] if none of the content's files exists. If the user may have deleted them, it forgets which files they
// were instead, with one flush: prepared makes one for each file that takes the place of a known one.
func (d opening) checkThere(emptied bool) error {
	gone := make(map[int]journal.File)
	for file := range d.tree.all() {
		if info, err := d.tree.stat(file); err != nil || info != nil {
			return err
		}
		gone[file] = journal.File{}
	}
	if !emptied {
		return fmt.Errorf("%s has none of the files: %w", d.tree.path, ErrGone)
	}
	for file := range gone {
		d.files.update(file, func(f *fileRecord) { f.File = journal.File{} })
	}
	return cmp.Or(d.journal.SetFiles(gone), d.journal.Sync())
}

// opening compares the files of a store with its journal. The store is not in use yet.
type opening struct {
	*Disk
	fresh    bool                 // the journal was just created: all files are the user's
	seeded   map[int]journal.File // records of the files of a new seed
	takeOver bool                 // a new transfer may write to them
	sameBoot bool                 // the machine was not started since the last records
}

// start compares the files with the journal. If it fails, it closes the store.
func (d opening) start(boot journal.BootID) error {
	if err := errors.Join(d.journal.Boot(boot), d.inspectAll()); err != nil {
		return errors.Join(err, d.Close())
	}
	for _, piece := range d.journal.Unmarked() {
		// Written before the restart, and maybe not flushed since.
		if d.setDirty(piece) && d.verified.has(piece) { // the file of parts has no stamp
			d.unverify(piece)
		}
		d.flush.unsynced += int64(d.m.PieceSize(piece))
	}
	return nil
}

// inspectAll makes the pieces of the files that differ from their records unverified. Pieces of a missing file are missing, but
// the journal keeps them until another file is created: a file system may not be mounted.
func (d opening) inspectAll() error {
	seed := d.journal.Seed()
	if d.fresh && !seed && !d.tree.single() {
		if err := d.recordRoot(false); err != nil {
			return err
		}
	}
	var alias error
	seen, final := make(map[vfs.ID]int), true
	look := looker{t: d.tree}
	for i := range d.m.Entries {
		hasBytes := d.tree.size(i) > 0
		if seed && !hasBytes {
			continue
		}
		info, err := d.inspect(i, &look)
		if err != nil {
			return err
		}
		if d.tree.pad(i) {
			continue
		}
		final = final && info != nil
		if hasBytes && info != nil {
			final = final && d.files.at(i).state == fileFinal && info.Size() == d.tree.size(i)
			if !seed && vfs.StatOf(info).Links == 1 {
				if other, ok := seen[vfs.IDOf(info)]; ok {
					alias = d.tree.aliasError(other, i)
				}
				seen[vfs.IDOf(info)] = i
			}
		}
	}
	if err := cmp.Or(d.journal.SetFiles(d.seeded), alias); err != nil {
		return err
	}
	d.tree.awaitTick(d.files.lastChange()) // before the files are read
	d.loadPieces()
	marked := d.journal.Marked() && len(d.journal.Unmarked()) == 0 && d.verified.count()+d.unverified.count() == d.wanted
	if !seed && !(final && marked) {
		return nil
	}
	d.stage.Store(finished)
	if seed {
		return nil
	}
	return d.journal.Sync() // a Finish that was cut short may have ended before that
}

// inspect compares an entry with its record. It returns nil if it does not exist.
func (d opening) inspect(entry int, look *looker) (info fs.FileInfo, err error) {
	if d.tree.pad(entry) {
		if d.fresh && !d.m.LeavesOut(entry) { // it needs no file
			err = d.journal.Found(entry, journal.File{})
		}
		return nil, err
	}
	hasBytes := d.tree.size(entry) > 0
	if info, err = look.find(entry); hasBytes {
		info, err = regular(info, err)
	}
	switch {
	case err != nil:
	case info == nil && d.fresh && d.journal.Seed():
		err = d.changedSince(entry, fs.ErrNotExist)
	case info == nil:
	case hasBytes:
		d.tree.names.found(info)
		err = d.inspectFile(entry, info)
	case !d.fresh:
		err = d.claimEntry(entry, info)
	case d.takeOver:
		err = d.takeOverEntry(entry, info)
	}
	return info, err
}

// inspectFile records a file that exists.
func (d opening) inspectFile(file int, info fs.FileInfo) error {
	inspect := d.compareFile
	if d.fresh {
		inspect = d.recordFound
	}
	rec, err := inspect(file, info)
	if err != nil {
		return err
	}
	d.files.update(file, func(f *fileRecord) {
		f.File, f.state = rec, f.state.next(fileFound)
		if rec.Final && info.Size() == d.tree.size(file) {
			f.state = f.state.next(filePublished)
		}
	})
	return nil
}

// recordFound records a file that is older than the transfer or seed.
func (d opening) recordFound(file int, info fs.FileInfo) (journal.File, error) {
	rec := journal.File{Stamp: stampOf(info), Foreign: !d.takeOver && !d.journal.Seed()}
	e := &d.m.Entries[file]
	switch {
	case !d.journal.Seed():
		if d.takeOver {
			rec.Born = d.tree.root.Born(d.tree.name(file))
		}
		d.tree.dropCache(file) // a flush may have failed before: what is hashed must be on the disk
		return rec, d.journal.Found(file, rec)
	case info.Size() != e.Size || mtimeOf(info) != e.MTime:
		return rec, d.changedSince(file, nil)
	}
	d.seeded[file] = rec
	return rec, nil
}

// changedSince returns an error about a file that differs from the manifest of a new seed.
func (d opening) changedSince(file int, cause error) error {
	path := d.tree.fullPath(d.tree.name(file))
	return &ChangedError{Path: path, Reason: "its size or modification time changed; try again", Err: cause}
}

// compareFile compares a file with its record.
func (d opening) compareFile(file int, info fs.FileInfo) (journal.File, error) {
	rec, seed := d.files.at(file).File, d.journal.Seed()
	if !seed {
		rec = d.claim(file, rec, info)
	}
	if info.Size() == d.tree.size(file) && rec.Stamp == stampOf(info) {
		return rec, nil
	}
	// It was changed or replaced since it was stamped, or since all of it was verified.
	rec.Touched = rec.Touched || rec.Made && (rec.Changed != 0 || d.tree.every(file, d.journal.Verified))
	if !seed && !d.tree.owns(d.tree.name(file), rec, info) {
		rec.Foreign, rec.Born = true, 0
	}
	rec.Stamp = stampOf(info)
	// A flush may have failed before the restart.
	d.tree.dropCache(file)
	// What the journal says now is true of the file as it is.
	return rec, d.journal.Unverify(file, rec)
}

// claim returns the record of a file that the journal does not have, if the journal lost its record in a crash.
func (d opening) claim(file int, f journal.File, info fs.FileInfo) journal.File {
	s, t, e := vfs.StatOf(info), d.tree, &d.m.Entries[file]
	switch {
	case f.Foreign || f.Inode == s.Inode:
		return f
	case f.Inode == 0 && d.unrecorded(e, t.name(file), info): // it was created, and nothing more
		f.Made = true
	case f.Changed != 0 && f.Changed == s.Changed && info.Size() == t.size(file) && t.bornAs(t.name(file), f):
		// The file system has new inode numbers. The time alone may also be the time of a file that was made in the same tick.
	case f.Inode != 0 && t.inodeOf(t.tempName(t.name(file))) == f.Inode: // see separate
	case !d.sameBoot && f.Inode == 0 && t.looksOurs(e, info): // a power loss
	case !d.sameBoot && f.Inode != 0 && !f.Made && !f.Final: // likewise, of a copy that separate made
	default:
		return f
	}
	f.Stamp, f.Born = journal.Stamp{Inode: s.Inode}, 0
	return f
}

// unrecorded reports whether what the journal does not have is what a crash kept from being recorded: an empty file, or a
// directory, with a mode that the store gives it.
func (d opening) unrecorded(e *proto.Entry, name string, info fs.FileInfo) bool {
	mode, final := info.Mode().Perm(), d.tree.mode(e, info).Perm()
	switch {
	case info.IsDir() && d.sameBoot:
		return mode == transferDirMode && d.tree.isEmpty(name)
	case info.IsDir():
		return mode|transferDirMode == final|transferDirMode || mode == transferDirMode
	}
	return info.Mode().IsRegular() && info.Size() == 0 && (mode == transferFileMode || !d.sameBoot && mode == final)
}

// isEmpty reports whether a directory has no entries.
func (t *tree) isEmpty(name string) bool {
	names, err := t.namesIn(name)
	return err == nil && len(names) == 0
}

// claimEntry records an empty file or directory that a crash kept from being recorded.
func (d opening) claimEntry(entry int, info fs.FileInfo) error {
	e := &d.m.Entries[entry]
	if e.Kind == proto.Symlink || d.files.at(entry).Inode != 0 || info.IsDir() != (e.Kind == proto.Dir) || !d.unrecorded(e, d.tree.name(entry), info) {
		return nil
	}
	return d.setRecord(entry, func(f *fileRecord) { f.File = journal.File{Stamp: journal.Stamp{Inode: vfs.StatOf(info).Inode}} })
}

// loadPieces sets what the journal has, except for pieces of missing files.
func (d opening) loadPieces() {
	for piece := range d.m.Pieces() {
		switch state := d.journal.State(piece); {
		case d.LeavesOut(piece):
		case state == journal.Verified:
			d.verified.set(piece)
		case state == journal.Unverified:
			d.unverified.set(piece)
		}
	}
	d.unload(slices.DeleteFunc(slices.Collect(d.tree.all()), func(file int) bool { return d.files.at(file).state != fileGone }))
}

// TakeOver has the store write to the files, links and directories that are at the names of the content, where they differ from it.
// They stay the user's: Remove leaves them. Missing pieces of files that exist become unverified. It must be called before the
// store is used.
func (d *Disk) TakeOver() error {
	for i := range d.m.Entries {
		if d.m.Entries[i].Kind == proto.Pad {
			continue
		}
		info, err := d.tree.find(d.tree.name(i))
		if err == nil && info != nil {
			err = opening{Disk: d}.takeOverEntry(i, info)
		}
		if err != nil {
			return err
		}
	}
	info, err := d.tree.lstat(".")
	if err == nil && d.hasDirs() && !d.owns(len(d.m.Entries), info) {
		err = opening{Disk: d, takeOver: true}.recordRoot(false)
	}
	if err != nil {
		return err
	}
	for file := range d.tree.all() {
		if d.files.at(file).state == fileGone {
			continue
		}
		first, after := d.tree.filePieces(file)
		for piece := first; piece < after; piece++ {
			if !d.verified.has(piece) {
				d.unverified.set(piece)
			}
		}
	}
	d.stage.Store(filling) // Publish replaces links, and empties files
	return nil
}

// takeOverEntry is TakeOver for an entry that exists.
func (d opening) takeOverEntry(entry int, info fs.FileInfo) error {
	t, e, name := d.tree, &d.m.Entries[entry], d.tree.name(entry)
	f := d.files.at(entry).File
	wrong := e.Kind == proto.Dir && !info.IsDir() || e.Size > 0 && !info.Mode().IsRegular()
	filled := e.Kind == proto.File && e.Size == 0 && info.Size() > 0 // by the user
	if wrong || e.Kind == proto.Dir && !d.hasDirs() || t.owns(name, f, info) && !filled {
		return nil
	}
	is := journal.File{Stamp: journal.Stamp{Inode: vfs.StatOf(info).Inode}}
	if !info.IsDir() { // in an overlay file system, a directory has another one once something in it changes
		is.Born = t.root.Born(name)
	}
	if f.Stamp == stampOf(info) { // its pieces are of this state
		is.Stamp = f.Stamp
	}
	return d.setRecord(entry, func(f *fileRecord) { f.File, f.state = is, f.state.next(pieceMissing) })
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
