package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// Disk is a [Store] in files and directories. [Create], [Adopt], [Open] and [Seed]
// return one. A state directory must not be used by two of them at a time.
type Disk struct {
	tree  *tree           // constant
	zeros func() pieceSum // of a piece of zeros that is not the last; constant
	parts parts

	// Read without the lock, changed with it, except for the first step of Forget, and of a write to an unverified piece.
	pieces
	stage atomic.Int32 // changed with finishing and mu

	finishing sync.RWMutex   // held during Publish and Finish, and by readers that settle files
	closing   sync.WaitGroup // files that are being closed for another store to open one

	mu      sync.Mutex // guards what follows; taken before the lock of files
	files   *table
	journal *journal.Journal
	flush   flushState
	failed  error // why a flush failed; it stays
	closed  bool
}

// Stages of a store. Forget goes back to filling.
const (
	filling  = int32(iota) // pieces are missing, or Publish has not returned
	shown                  // Publish has returned: other programs may change the files
	finished               // Finish has returned, or the content is seeded
)

// ReadAt implements [io.ReaderAt]. It does not allocate if all files it needs are open.
func (d *Disk) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errNegativeOffset
	}
	if n, err = d.tree.each(p, offset, d.readFile); err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// readFile fills p from a file.
func (d *Disk) readFile(file int, p []byte, offset int64) (int, error) {
	t := d.tree
	switch {
	case t.m.LeavesOut(file):
		return d.parts.readAt(p, t.start(file)+offset)
	case t.pad(file):
		clear(p)
		return len(p), nil
	}
	h, err := t.files.acquire(d, file)
	if err != nil {
		return 0, t.unreadable(t.name(file), err)
	}
	defer t.files.release(h)
	n, err := h.f.ReadAt(p, offset)
	if n < len(p) && err == io.EOF {
		return n, fmt.Errorf("%s ends before its %d bytes: %w",
			t.fullPath(t.name(file)), t.size(file), io.ErrUnexpectedEOF)
	}
	if n < len(p) {
		return n, t.unreadable(t.name(file), err)
	}
	return n, nil
}

// WriteAt implements [io.WriterAt]. It does not allocate if all files it needs are open.
func (d *Disk) WriteAt(p []byte, offset int64) (int, error) {
	if d.stage.Load() != filling {
		return 0, ErrReadOnly
	}
	if err := d.pieces.write(len(p), offset); err != nil || len(p) == 0 {
		return 0, err
	}
	return d.tree.each(p, offset, writer{d}.writeAt)
}

// openFile implements opener.
func (d *Disk) openFile(file int) (vfs.File, error) {
	if file == partsNumber {
		return d.parts.open()
	}
	t, rec := d.tree, d.files.at(file)
	if rec.state == fileOpen {
		return writer{d}.openAgain(file)
	}
	f, info, err := d.openRegular(file, os.O_RDONLY)
	// Peers must not get bytes of a file that was not seeded.
	if err == nil && vfs.Follows(t.files.fs) && rec.Inode != 0 && rec.Inode != vfs.StatOf(info).Inode {
		_ = f.Close() // nothing was written
		return nil, &ChangedError{Path: t.fullPath(t.name(file)), Reason: "it is another file now; seed it again"}
	}
	return f, err
}

// openRegular is the tree's openRegular. If the mode of the file denies that, it keeps its stamp.
func (d *Disk) openRegular(file, flags int) (f vfs.File, info fs.FileInfo, err error) {
	t, name := d.tree, d.tree.name(file)
	if f, info, err = t.openRegular(name, flags); !t.opt.ours || !errors.Is(err, fs.ErrPermission) {
		return f, info, err
	}
	was, err := regular(t.find(name))
	if was == nil {
		return nil, nil, cmp.Or(err, fs.ErrNotExist)
	}
	f, err = permit(t, name, func() (f vfs.File, err error) {
		f, _, err = t.openRegular(name, flags)
		return f, err
	})
	d.keepStamp(file, was)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		t.closeFile(f)
		return nil, nil, err
	}
	return f, info, nil
}

// keepStamp gives a file the stamp that it has since the store changed its mode. Before that, it was as was describes.
func (d *Disk) keepStamp(file int, was fs.FileInfo) {
	is, err := d.tree.stat(file)
	if err != nil || is == nil || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.files.at(file).Stamp; s != stampOf(was) || s == stampOf(is) {
		return
	}
	rec := d.files.update(file, func(f *fileRecord) { f.Stamp = stampOf(is) })
	if !d.closed && !rec.written {
		_ = d.journal.SetFile(file, rec.File) // without it the file is hashed again, or counts as changed
	}
}

// closeFile implements opener.
func (d *Disk) closeFile(f vfs.File) { d.tree.closeFile(f) }

// closeLater implements opener.
func (d *Disk) closeLater(f vfs.File) { d.closing.Go(func() { d.tree.closeFile(f) }) }

// closeFiles closes all files. Those in use are closed by their users.
func (d *Disk) closeFiles() {
	d.tree.files.drop(d)
	d.closing.Wait()
	d.tree.names.close()
}

// complete reports whether all pieces of a file are verified.
func (d *Disk) complete(file int) bool { return d.tree.every(file, d.verified.has) }

// Commit implements [Store]. Once a flush has failed, so does Commit; the store has
// to be opened again.
func (d *Disk) Commit(piece int) error {
	_, err := d.commit(piece, false)
	if err == nil {
		d.settle(piece)
	}
	return err
}

// commit is Commit. A piece that was found by hashing is not committed if another goroutine has
// started to write to it since: it reports whether it was.
func (d *Disk) commit(piece int, found bool) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return false, err
	}
	if d.failed != nil {
		return false, d.failed
	}
	if d.verified.has(piece) {
		return true, nil
	}
	if found {
		// A write clears the one before it looks at the other: one of the two notices.
		d.verified.set(piece)
		if !d.unverified.has(piece) {
			d.verified.clear(piece)
			return false, nil
		}
	}
	// Before the record: a flush that covers it covers the files.
	d.setDirty(piece)
	if err := d.journal.Commit(piece); err != nil {
		d.verified.clear(piece)
		return false, err
	}
	d.verified.set(piece)
	d.unverified.clear(piece)
	f := &d.flush
	f.unsynced += int64(d.m.PieceSize(piece))
	// A complete content that was hashed again is marked now: no Finish will.
	if again := d.stage.Load() == finished && d.Count() == d.wanted; (again || f.unsynced >= f.every) && !f.running {
		d.startFlush()
	}
	return true, nil
}

// setDirty records that the next flush has to cover a piece. It reports whether the piece has bytes of left-out files.
func (d *Disk) setDirty(piece int) (inParts bool) {
	for file := range d.tree.filesOf(piece) {
		d.files.update(file, func(f *fileRecord) { f.dirty = true })
	}
	if inParts = d.tree.inParts(piece); inParts {
		d.parts.dirty.Store(true)
	}
	return inParts
}

// Close implements [io.Closer]. It waits for a running flush but starts none: pieces
// that are not flushed are unverified after a crash of the machine, and only then. It
// returns why a flush failed, if one did.
func (d *Disk) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.mu.Unlock()
	d.flush.group.Wait()
	d.stage.Store(finished)
	d.closeFiles()
	// Without a stamp a file is hashed again.
	_ = d.stamp(d.files.all(func(f *fileRecord) bool { return f.written && f.state != fileGone }))
	err := d.tree.root.Close()
	// With the lock, since an earlier call may still write to the journal.
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.journal.Close(); err == nil {
		err = e
	}
	if d.failed != nil {
		err = d.failed
	}
	return err
}

// check returns why the record of a piece cannot be changed. The caller holds the lock.
func (d *Disk) check(piece int) error {
	if d.closed {
		return os.ErrClosed
	}
	return checkPiece(d.m, piece)
}

// Refresh has an [Audit] read the current files from the disk: it closes
// the open files, which may have been removed or replaced, and drops what the system has
// cached of them, where it can. The store may be in use.
func (d *Disk) Refresh() {
	t := d.tree
	for file := range t.all() {
		h, err := t.files.acquire(d, file)
		if err != nil {
			continue // the read of its pieces says why
		}
		h.f.DropCache()
		t.files.release(h)
	}
	t.files.drop(d)
}

// hashHole returns the hashes of a piece if it is in holes of sparse files. The answer is what a read would have returned at
// that moment.
func (d *Disk) hashHole(piece int) (sum pieceSum, ok bool) {
	t := d.tree
	// Only the last piece may be shorter. It is read, as its hash differs.
	offset, n := d.m.PieceOffset(piece), int64(d.m.PieceSize(piece))
	if n < int64(d.m.PieceLength) || t.inParts(piece) {
		return sum, false
	}
	for file := range t.filesOf(piece) {
		h, err := t.files.acquire(d, file)
		if err != nil {
			return sum, false
		}
		from := max(offset, t.start(file))
		hole := h.f.IsHole(from-t.start(file), min(offset+n, t.ends[file])-from)
		t.files.release(h)
		if !hole {
			return sum, false
		}
	}
	return d.zeros(), true
}
