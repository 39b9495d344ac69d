package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

const (
	// transferFileMode and transferDirMode apply until settle or Publish, so that no other
	// user takes a partial file for a complete one.
	transferFileMode = 0o600
	transferDirMode  = 0o700

	// createFlags opens a new file. With O_EXCL no link is followed, not even a
	// dangling one.
	createFlags = os.O_RDWR | os.O_CREATE | os.O_EXCL
)

// writer prepares the files of a store for writing.
type writer struct{ *Disk }

// writable is a file that is open for writing.
type writable struct {
	vfs.File
	info    fs.FileInfo
	created bool
}

// writeAt writes p to a file, which it creates if necessary.
func (d writer) writeAt(file int, p []byte, offset int64) (int, error) {
	t := d.tree
	switch {
	case t.m.LeavesOut(file):
		return d.parts.writeAt(p, t.start(file)+offset)
	case t.pad(file):
		return len(p), nil
	}
	fills := int64(len(p)) == t.size(file)
	h, err := d.acquire(file, fills)
	if err != nil {
		return 0, err
	}
	defer t.files.release(h)
	// A file that was truncated would be extended by a write, and read as zeros.
	if size, err := h.f.Seek(0, io.SeekEnd); !fills && err == nil && size != t.size(file) {
		d.files.update(file, func(f *fileRecord) { f.foreign = true }) // another write may have extended it
		return 0, &ChangedError{Path: t.fullPath(t.name(file)), Reason: "its size differs"}
	}
	n, err := writeInParts(h.f, p, offset)
	d.files.update(file, func(f *fileRecord) { f.written, f.Changed = true, 0 })
	if err != nil && fills {
		d.files.happened(file, writeFailed)
	}
	return n, err
}

// writePart is the size of a single write to a file. Linux makes the page cache of a
// new file of blocks as large as the writes. Up to 32 KiB these come from lists of
// recently used memory. Larger ones come from idle memory, whose first touch costs a
// virtual machine more than the saved calls.
const writePart = 32 << 10

func writeInParts(f vfs.File, p []byte, offset int64) (n int, err error) {
	for n < len(p) && err == nil {
		var done int
		done, err = f.WriteAt(p[n:min(n+writePart, len(p))], offset+int64(n))
		n += done
	}
	return n, err
}

// prepare prepares a file for writing: it exists with its final size, differs from the other files of
// the content, and has no other name. What is not written yet is a hole. The directories
// above it are created.
func (d writer) prepare(file int) error {
	h, err := d.acquire(file, false)
	if err == nil {
		d.tree.files.release(h)
	}
	return err
}

// acquire returns a file that is prepared, and open for writing. If the caller fills it by
// one write, a new file does not get its size before.
func (d writer) acquire(file int, fills bool) (*handle, error) {
	busy := d.start(file)
	if busy == nil {
		return d.tree.files.acquire(d.Disk, file)
	}
	defer func() {
		d.files.update(file, func(f *fileRecord) { f.busy = nil })
		close(busy)
	}()
	if err := d.tree.openTop(); err != nil {
		return nil, err
	}
	f, err := d.openOrCreate(file, d.files.at(file).File)
	if err != nil {
		return nil, err
	}
	// Before the size changes: this may not be a file to write to.
	err = d.recorded(f.created, file, d.prepared(file, f))
	if size := d.tree.size(file); err == nil && f.info.Size() != size && !(fills && f.created) {
		err = f.Truncate(size)
	}
	if err != nil {
		d.tree.closeFile(f.File)
		return nil, err
	}
	d.tree.names.found(f.info)
	// In the place of one that is open for reading.
	h := d.tree.files.put(d.Disk, file, f.File)
	d.files.happened(file, filePrepared)
	return h, nil
}

// start returns a channel if the caller has to prepare a file, which closes it. If another goroutine
// does, it waits for that. It returns nil if the file is prepared.
func (d writer) start(file int) (busy chan struct{}) {
	for {
		mine := false
		rec := d.files.update(file, func(f *fileRecord) {
			if mine = f.state != fileOpen && f.busy == nil; mine {
				f.busy = make(chan struct{})
			}
		})
		switch {
		case mine:
			return rec.busy
		case rec.state == fileOpen:
			return nil
		}
		<-rec.busy
	}
}

// prepared records which file on disk a file of the content is, and
// drops the pieces of a file that no longer exists.
func (d writer) prepared(file int, f writable) error {
	born := d.tree.root.Born(d.tree.name(file))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	rec := d.files.at(file)
	kept := !f.created && rec.state != fileGone
	size := f.info.Size()
	if !kept {
		size = 0
	}
	err := d.demoteFrom(file, size)
	saved := d.journal.File(file)
	// If another program changed it since the store was opened, this cannot be distinguished from what the store writes.
	foreign := kept && rec.changed(f.info)
	is := journal.File{Made: f.created || rec.Made, Touched: !f.created && (rec.Touched || rec.Made && foreign)}
	is.Inode = vfs.StatOf(f.info).Inode
	is.Born = born
	if saved.Inode == is.Inode && !f.created {
		is.Changed = saved.Changed
	}
	d.files.update(file, func(r *fileRecord) {
		r.foreign = r.foreign || foreign
		r.File, r.written = is, true
		r.Changed = 0
		r.state = r.state.next(fileFound)
	})
	if err == nil && is != saved {
		err = d.journal.SetFile(file, is)
	}
	if err == nil && saved.Inode != 0 && f.created { // else, after a power loss, it would count as the user's
		err = d.journal.Sync()
	}
	return err
}

// openAgain opens a file that was prepared.
func (d writer) openAgain(file int) (vfs.File, error) {
	t, name := d.tree, d.tree.name(file)
	f, err := d.openWritable(file, d.files.at(file).File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &ChangedError{Path: t.fullPath(name), Reason: "it was removed", Err: err}
	}
	return f.File, err
}

// openOrCreate opens the file of an entry for writing if rec has it, and creates it if it does
// not exist. It fails with [*ExistsError] if there is another file.
func (d writer) openOrCreate(entry int, rec journal.File) (w writable, err error) {
	t, name := d.tree, d.tree.name(entry)
	if rec.Inode != 0 && !rec.Foreign {
		w, err = d.openWritable(entry, rec)
		if !errors.Is(err, fs.ErrNotExist) {
			return w, err
		}
	}
	f, err := d.create(name)
	if errors.Is(err, fs.ErrExist) {
		return w, d.existsError(entry)
	}
	if err != nil {
		return w, err
	}
	t.names.note(filepath.Dir(name))
	info, err := f.Stat()
	if err != nil {
		t.closeFile(f)
		return writable{}, err
	}
	return writable{f, info, true}, nil
}

// openWritable opens the file of an entry for writing, and fails with [*ExistsError] if that is not the file of rec. If
// the file has other names, they keep what it was: the entry gets a copy.
func (d writer) openWritable(entry int, rec journal.File) (w writable, err error) {
	t, name := d.tree, d.tree.name(entry)
	was, err := t.find(name)
	switch {
	case err != nil:
		return w, err
	case was == nil:
		return w, fs.ErrNotExist
	case !was.Mode().IsRegular():
		return w, &ChangedError{Path: t.fullPath(name), Reason: notRegular}
	case !t.owns(name, rec, was):
		return w, d.existsError(entry)
	}
	inode, shared := vfs.StatOf(was).Inode, vfs.StatOf(was).Links > 1
	if shared {
		if inode, err = d.separate(entry, was); err != nil {
			return w, err
		}
	}
	w.File, w.info, err = d.openRegular(entry, os.O_RDWR)
	if err != nil {
		return w, err
	}
	// Another file, which was created in the meantime, may have got the same inode number. An overlay file system copies the file when
	// it is opened for writing: the copy was created later, and has the same modification time.
	copied := w.info.Size() == was.Size() && w.info.ModTime().Equal(was.ModTime())
	if s := vfs.StatOf(w.info); s.Links > 1 || s.Inode != inode || !shared && !copied && !t.bornAs(name, rec) {
		t.closeFile(w.File)
		return w, &ChangedError{Path: t.fullPath(name), Reason: "it was replaced, or has got another name"}
	}
	return w, nil
}

// existsError returns why nothing is written to what has the name of an entry and is not the store's.
func (d writer) existsError(entry int) error {
	name := d.tree.name(entry)
	info, err := d.tree.lstat(name)
	if err != nil {
		return d.tree.withPath(name, err)
	}
	if err := d.findAlias(entry, info); err != nil {
		return err
	}
	what, _ := d.tree.difference(entry, info)
	return &ExistsError{Path: d.tree.fullPath(name), Inside: !d.tree.single(), OtherKind: what == Replaced}
}

// commitHoles commits the pieces of zeros of new content, whose files start as holes.
// They need not be fetched and take no disk space.
func (d writer) commitHoles() error {
	zeros := d.zeros()
	for piece := range d.m.Pieces() {
		if !zeros.matches(d.m, piece) {
			continue
		}
		for file := range d.tree.filesOf(piece) {
			if err := d.prepare(file); err != nil {
				return err
			}
		}
		if _, ok := d.hashHole(piece); !ok {
			continue
		}
		if err := d.Commit(piece); err != nil {
			return err
		}
	}
	return nil
}

// create creates a file, and all directories of the content if a directory above it does not exist. It fails if something
// else has the name of one.
func (d writer) create(name string) (vfs.File, error) {
	t, dir := d.tree, filepath.Dir(name)
	create := func() (vfs.File, error) { return t.root.OpenFile(name, createFlags, transferFileMode) }
	f, err := permit(t, dir, create)
	if err != nil && dir != "." && notThere(err) {
		if err := d.createDirs(); err != nil {
			return nil, err
		}
		f, err = permit(t, dir, create)
	}
	return f, t.withPath(name, err)
}

// createDirs creates all directories, or makes existing directories of the store writable until finishDirs.
func (d writer) createDirs() error {
	t := d.tree
	if info, err := t.lstat("."); err == nil && t.m.Root != nil && d.ownsDir(len(t.m.Entries), info) {
		t.widen(".")
	}
	for i := range t.m.Entries {
		if t.m.Entries[i].Kind != proto.Dir {
			continue
		}
		name := t.name(i)
		err := permitCall(t, filepath.Dir(name), func() error { return t.root.Mkdir(name, transferDirMode) })
		if err == nil {
			if err := d.recordNew(i); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, fs.ErrExist) {
			return t.withPath(name, err)
		}
		info, err := t.root.Lstat(name)
		if err != nil {
			return t.withPath(name, err)
		}
		if !info.IsDir() {
			return d.existsError(i)
		}
		if d.ownsDir(i, info) {
			t.widen(name)
		}
	}
	return nil
}

// recordNew records an entry that was just created.
func (d writer) recordNew(entry int) error {
	name := d.tree.name(entry)
	info, err := d.tree.lstat(name)
	if err != nil {
		err = d.tree.withPath(name, err)
	} else {
		err = d.madeEntry(entry, info)
	}
	return d.recorded(true, entry, err)
}

// recorded returns why an entry could not be recorded. It removes the entry if it was just created, since it would stay for
// ever without a record.
func (d writer) recorded(created bool, entry int, err error) error {
	if created && err != nil {
		d.tree.discard(d.tree.name(entry))
	}
	return err
}

// madeEntry records that the store created what info describes.
func (d writer) madeEntry(entry int, info fs.FileInfo) error {
	born := d.tree.root.Born(d.tree.name(entry))
	return d.setRecord(entry, func(f *fileRecord) {
		f.File = journal.File{Stamp: journal.Stamp{Inode: vfs.StatOf(info).Inode}, Made: f.Made || f.Inode == 0, Born: born}
	})
}

// openTop opens the root, unless it is open: from then on the system reports to it which
// writes fail.
func (t *tree) openTop() error {
	t.names.mu.Lock()
	defer t.names.mu.Unlock()
	if t.names.top != nil {
		return nil
	}
	top, err := t.openDir(".")
	if err != nil {
		return t.withPath(".", err)
	}
	info, err := top.Stat()
	if err != nil {
		return errors.Join(err, top.Close())
	}
	t.names.top = top
	t.names.onDevice(info)
	return nil
}

// note records that the next flush has to cover a directory, and those above it.
func (n *names) note(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for ; !n.changed[dir]; dir = filepath.Dir(dir) {
		n.changed[dir] = true
	}
}

// take returns the directories that a flush has to cover.
func (n *names) take() map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	dirs := n.changed
	n.changed = make(map[string]bool)
	return dirs
}

// found records that a file exists.
func (n *names) found(info fs.FileInfo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.onDevice(info)
}

// onDevice records the file system of a file. The caller holds the lock.
func (n *names) onDevice(info fs.FileInfo) {
	device := vfs.StatOf(info).Device
	n.mounts = n.mounts || n.device != 0 && n.device != device
	n.device = device
}

func (n *names) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.top != nil {
		_ = n.top.Close() // nothing was written to it
		n.top = nil
	}
}
