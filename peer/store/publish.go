package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Publish implements [Store].
func (d *Disk) Publish() error {
	d.finishing.Lock()
	defer d.finishing.Unlock()
	p := publisher{d}
	if stage, err := p.ready(); stage != filling || err != nil {
		return err
	}
	if err := p.publish(); err != nil {
		return err
	}
	return p.end(shown)
}

// Finish implements [Store]. Each step can be repeated, so a Finish that a crash cut
// short starts over. Modes and times of symbolic links are not set. After Publish, Finish only flushes: the user may have
// changed the files.
func (d *Disk) Finish() error {
	d.finishing.Lock()
	defer d.finishing.Unlock()
	p := publisher{d}
	stage, err := p.ready()
	if stage == finished || err != nil {
		return err
	}
	// No new flush starts, as there is nothing left to commit.
	d.flush.group.Wait()
	if stage != shown {
		// The bytes first: some file systems set the time when they write them out.
		if err := (flusher{d}).flush(); err != nil {
			return err
		}
		if err := p.publish(); err != nil {
			return err
		}
	}
	flusher{d}.setAllDirty()
	if err := (flusher{d}).flush(); err != nil {
		return err
	}
	if err := p.recordFinal(); err != nil {
		return err
	}
	if err := d.journal.Sync(); err != nil {
		d.fail(err)
		return err
	}
	return p.end(finished)
}

// recordFinal records the stamps of all files, and that every piece is on the disk. Publish wrote nothing but modes and
// times, which a stamp covers.
func (d publisher) recordFinal() error {
	written := d.files.all(func(f *fileRecord) bool {
		f.Final = f.Final || f.state == fileFinal
		return f.written && f.state != fileGone
	})
	if err := d.stamp(written); err != nil {
		return err
	}
	for i := range d.m.Entries {
		if e := &d.m.Entries[i]; e.Kind == proto.File && e.Size == 0 {
			err := d.setRecord(i, func(f *fileRecord) { f.Final = f.Final || f.Inode != 0 }) // not the user's
			if err != nil {
				return err
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.unready(); err != nil {
		return err
	}
	if d.wanted < d.m.Pieces() {
		return d.journal.Mark(d.journal.Next())
	}
	return d.journal.Complete()
}

// end makes the content read-only, unless a piece was forgotten since.
func (d publisher) end(stage int32) error {
	d.mu.Lock()
	if d.Count() < d.wanted {
		d.mu.Unlock()
		return ErrNotWhole
	}
	d.stage.Store(stage)
	d.mu.Unlock()
	d.tree.files.drop(d.Disk) // they are opened again for reading only
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed // a file that could not be closed
}

// ready returns why the content cannot be published, and the stage, which Forget may change from then on.
func (d publisher) ready() (stage int32, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stage.Load(), d.unready()
}

// unready returns why the content cannot be published. The caller holds the lock.
func (d publisher) unready() error {
	switch {
	case d.closed:
		return os.ErrClosed
	case d.failed != nil:
		return d.failed
	case d.Count() < d.wanted:
		return ErrNotWhole
	}
	return nil
}

// settle gives the small files of a piece that was just committed, and are complete by that, their
// modes and times while they are still open, so that Publish need not open them again. It leaves
// to Publish what is not open any more, files that are older than the transfer, and failures.
func (d *Disk) settle(piece int) {
	if !d.finishing.TryRLock() {
		return
	}
	defer d.finishing.RUnlock()
	for file := range d.tree.filesOf(piece) {
		// Larger files are few, and to look at all of their pieces each time takes long.
		if d.tree.size(file) <= int64(d.m.PieceLength) {
			publisher{d}.settle(file)
		}
	}
}

// publisher gives the entries the metadata of the manifest.
type publisher struct{ *Disk }

// settle is settle for a file that the store created.
func (d publisher) settle(file int) {
	t := d.tree
	h := t.files.acquireOpen(d.Disk, file)
	if h == nil {
		return
	}
	defer t.files.release(h)
	if !d.startSettle(file) {
		return
	}
	info, err := h.f.Stat()
	if err != nil || info.Size() != t.size(file) || vfs.StatOf(info).Links > 1 {
		return
	}
	e := &t.m.Entries[file]
	if e.MTime != proto.NoMTime {
		if done, err := h.f.SetModTime(time.Unix(0, e.MTime)); !done || err != nil {
			return
		}
	}
	if h.f.Chmod(t.mode(e, nil)) != nil {
		return
	}
	if info, err = h.f.Stat(); err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files.update(file, func(f *fileRecord) {
		// Unless a piece of it was forgotten since.
		if s := stampOf(info); d.complete(file) && f.state == fileFull && f.Inode == s.Inode {
			f.Stamp, f.written = s, true // a flush meanwhile may have stamped it as it was before
		}
	})
}

// startSettle reports whether a file can be settled: all of it is verified, and it was not
// changed or settled before. From then on it is opened for reading only, as opening it for
// writing would change its mode.
func (d publisher) startSettle(file int) (ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.failed != nil || !d.complete(file) {
		return false
	}
	d.files.update(file, func(f *fileRecord) {
		if ok = f.state == fileOpen && f.Made && !f.foreign; ok {
			f.state = f.state.next(fileCompleted)
		}
	})
	return ok
}

func (d publisher) publish() error {
	if err := writer(d).createDirs(); err != nil {
		return err
	}
	look := looker{t: d.tree}
	for i := range d.m.Entries {
		e := &d.m.Entries[i]
		if e.Kind != proto.File {
			continue
		}
		var err error
		if e.Size == 0 {
			err = d.publishEmpty(i, e)
		} else {
			err = d.publishFile(i, e, &look)
		}
		if err != nil {
			return err
		}
	}
	// After all files, so that no link is in the way of a write.
	for i := range d.m.Entries {
		if d.m.Entries[i].Kind != proto.Symlink {
			continue
		}
		if err := d.createLink(i); err != nil {
			return err
		}
	}
	if err := d.finishDirs(); err != nil {
		return err
	}
	d.tree.awaitTick(d.files.lastChange())
	return nil
}

// publishFile gives a file with bytes its size, mode and time. It leaves a file that was published before.
func (d publisher) publishFile(file int, e *proto.Entry, look *looker) error {
	info, err := regular(look.find(file))
	if err != nil {
		return err
	}
	rec := d.files.at(file)
	settled := rec.state == fileFull && info != nil && rec.Stamp == stampOf(info) && info.Size() == e.Size && d.tree.hasMetadata(info, e)
	switch {
	case rec.state == fileFinal && info != nil:
		return nil
	case settled:
		d.leave(file, info)
		return nil
	}
	return d.setFile(file, e, rec)
}

// setFile is publishFile for a file that is not as it was left.
func (d publisher) setFile(file int, e *proto.Entry, rec fileRecord) error {
	t, name := d.tree, d.tree.name(file)
	info, err := t.stat(file)
	if err != nil {
		return err
	}
	changed := func(reason string) error { return &ChangedError{Path: t.fullPath(name), Reason: reason} }
	written := rec.state == fileOpen || rec.state == fileFull
	own := info != nil && t.owns(name, rec.File, info)
	switch {
	case info == nil && !written: // removed since its pieces were stored: they are fetched again
		d.mu.Lock()
		defer d.mu.Unlock()
		if err := d.demoteFrom(file, 0); err != nil {
			return err
		}
		return ErrNotWhole
	case written && !own:
		return changed("it was removed or replaced")
	case !own && rec.Stamp != stampOf(info):
		return changed("it was replaced")
	case written && info.Size() != e.Size:
		return changed("its size differs")
	case rec.state == fileFull && rec.Changed != 0 && rec.Stamp != stampOf(info):
		d.files.happened(file, filePublished) // its time is the time of the change
		return nil
	case info.Size() < e.Size: // it would be extended by zeros
		return changed("it was truncated")
	case info.Size() == e.Size && (!own || t.hasMetadata(info, e)):
		d.leave(file, info)
		return nil
	}
	// All of its pieces were found and none was written, if it is too long.
	h, err := writer(d).acquire(file, false)
	if err != nil {
		return err
	}
	defer t.files.release(h)
	d.files.update(file, func(f *fileRecord) {
		// If a read or a flush opens it again, then not for writing: that would change its mode.
		f.written, f.state = true, f.state.next(fileCompleted)
	})
	if err := t.setMetadata(h.f, info, name, e); err != nil {
		return err
	}
	info, err = h.f.Stat()
	if err != nil {
		return t.withPath(name, err)
	}
	d.leave(file, info)
	return nil
}

// leave records how Publish left a file. It is stamped if its bytes were verified, or written by the store.
func (d publisher) leave(file int, info fs.FileInfo) {
	d.files.update(file, func(f *fileRecord) {
		s := stampOf(info)
		f.written = f.written || f.Stamp == s
		f.Stamp, f.state = s, f.state.next(filePublished)
	})
}

// publishEmpty creates an empty file, or makes the one that it took over empty. It leaves an empty file that another
// program created, and a file that another program changed since it was published.
func (d publisher) publishEmpty(entry int, e *proto.Entry) error {
	t, name := d.tree, d.tree.name(entry)
	own := d.files.at(entry).File
	info, err := regular(t.find(name))
	if err != nil {
		return err
	}
	switch exists := info != nil; {
	case exists && own.Final, exists && info.Size() == 0 && !d.owns(entry, info):
		return nil
	case exists && info.Size() == 0 && t.hasMetadata(info, e):
		if own.Changed != 0 {
			return nil
		}
		return d.stampEmpty(entry, info)
	case own.Made && (!exists || info.Size() > 0):
		own.Inode = 0
	}
	f, err := writer(d).openOrCreate(entry, own)
	if err != nil {
		return err
	}
	defer t.closeFile(f)
	if f.created {
		err = writer(d).recorded(true, entry, writer(d).madeEntry(entry, f.info))
	} else if f.info.Size() > 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		return err
	}
	if err := t.setMetadata(f, f.info, name, e); err != nil {
		return err
	}
	if info, err = f.Stat(); err != nil {
		return t.withPath(name, err)
	}
	return d.stampEmpty(entry, info)
}

// stampEmpty records the state in which Publish left an empty file.
func (d publisher) stampEmpty(entry int, info fs.FileInfo) error {
	return d.setRecord(entry, func(f *fileRecord) { f.Stamp = stampOf(info) })
}

// setRecord changes the record of an entry, here and in the journal.
func (d *Disk) setRecord(entry int, change func(f *fileRecord)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	was := d.files.at(entry)
	is := was
	if change(&is); is.File != was.File {
		if err := d.journal.SetFile(entry, is.File); err != nil {
			return err
		}
	}
	d.files.update(entry, change)
	return nil
}

// createLink creates a symbolic link, in the place of a link to another target that it created or took over.
func (d publisher) createLink(entry int) error {
	t, name, target := d.tree, d.tree.name(entry), filepath.FromSlash(d.m.Entries[entry].Target)
	info, err := t.root.Lstat(name)
	if err == nil {
		isLink := info.Mode().Type() == fs.ModeSymlink
		if old, err := t.root.Readlink(name); isLink && err == nil && old == target {
			return nil
		}
		if !isLink || !d.owns(entry, info) {
			return writer(d).existsError(entry)
		}
		if err := t.root.Remove(name); err != nil {
			return t.withPath(name, err)
		}
	}
	switch err := t.root.Symlink(target, name); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("%s cannot be created: its file system has no symbolic links: choose another path", t.fullPath(name))
	case err != nil:
		return err
	}
	return writer(d).recordNew(entry)
}

// finishDirs gives the directories of the store their time and mode, the inner ones first, since
// changes in a directory change its time and may need it to be writable.
func (d publisher) finishDirs() error {
	for i := len(d.m.Entries) - 1; i >= 0; i-- {
		if e := &d.m.Entries[i]; e.Kind == proto.Dir {
			if err := d.finishDir(i, e); err != nil {
				return err
			}
		}
	}
	if d.m.Root == nil {
		return nil
	}
	return d.finishDir(len(d.m.Entries), d.m.Root)
}

func (d publisher) finishDir(entry int, e *proto.Entry) error {
	t, name := d.tree, d.tree.name(entry)
	f, err := t.openDir(name)
	if err != nil {
		return t.withPath(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || t.hasMetadata(info, e) || !d.ownsDir(entry, info) {
		return err
	}
	return t.setMetadata(f, info, name, e)
}

// ownsDir reports whether the store created a directory or took it over.
func (d *Disk) ownsDir(entry int, info fs.FileInfo) bool {
	return !d.hasDirs() && d.files.at(entry).Inode == 0 || d.owns(entry, info)
}

// owns reports whether the store may write to what has the name of an entry, of which info is.
func (d *Disk) owns(entry int, info fs.FileInfo) bool {
	return d.tree.owns(d.tree.name(entry), d.files.at(entry).File, info)
}

// openDir opens a directory. It fails if something else has its name.
func (t *tree) openDir(name string) (vfs.File, error) {
	return permit(t, name, func() (vfs.File, error) {
		return t.root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	})
}

// namesIn returns the names in a directory.
func (t *tree) namesIn(dir string) ([]string, error) {
	f, err := t.openDir(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// hasMetadata reports whether a file or directory has the mode and the time of e.
func (t *tree) hasMetadata(info fs.FileInfo, e *proto.Entry) bool {
	return info.Mode()&modeBits == t.mode(e, info) &&
		(e.MTime == proto.NoMTime || mtimeOf(info) == e.MTime)
}

// setMetadata gives an open file or directory, of which info is, its time, if the manifest has
// one, and its mode. The time is set by name: only an owner may, see [vfs.As].
func (t *tree) setMetadata(f vfs.File, info fs.FileInfo, name string, e *proto.Entry) error {
	if e.MTime != proto.NoMTime {
		if err := t.root.Chtimes(name, time.Time{}, time.Unix(0, e.MTime)); err != nil {
			return t.withPath(name, err)
		}
	}
	return t.withPath(name, f.Chmod(t.mode(e, info)))
}
