package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// tree is the files of a content on disk, by the file numbers of its layout. It opens,
// creates and changes all of them through a [vfs.Root], so no symbolic link leads out
// of the content, whoever created it and when.
type tree struct {
	m      *proto.Manifest
	layout layout
	files  *Files
	root   vfs.Root // the content's directory, or that of its only file
	dir    string   // path of root
	path   string   // of the content, for messages
	single string   // the file's name in root if the content is a single file
	temp   string   // begins the names of temporary files
	owner  owner    // nil for a tree that is not written to

	exact   bool // reads find out if a file has more bytes than its size says
	ours    bool // the transfer made the files, see permit
	special bool // see [Disk.KeepSpecialBits]

	dirty     bitset // files with pieces that were committed since the last flush
	ready     bitset // files that are prepared for writing, see makeReady
	settled   bitset // files that were ready until their last piece was committed, see settle
	unstamped bitset // files that were written to since their last stamp
	foreign   bitset // files that another program changed, which get no stamp

	permitting sync.Mutex // held while modes are wider than the content's

	closing sync.WaitGroup // files that are being closed for another store to open one

	mu        sync.Mutex // guards what follows
	preparing map[int]chan struct{}
	top       vfs.File        // root, opened before the first write
	renamed   map[string]bool // directories with names that are not flushed
	device    uint64          // of the files, 0 if that is not known
	mounts    bool            // some files are on other file systems
}

// owner is what a tree tells the store that writes to it, and asks.
type owner interface {
	// prepared is called before the first write to a file.
	prepared(file int, f writable) error
	// written returns the inode number of the file that was written to last, 0 if that
	// is not known. Of a seed it is the inode number when it was hashed.
	written(file int) uint64
	// recordInode records that an entry has another file with the same bytes.
	recordInode(entry int, inode uint64) error
	// foreign returns why nothing is written to what has a name and is not the store's.
	foreign(name string) error
	// changedMode is called if a file had another mode for a while, with its stamps before and after.
	changedMode(file int, was, is journal.Stamp)
	// fail is called if bytes that were written may be lost.
	fail(cause error)
}

// openTree opens the files at path, which exists, for reading.
func openTree(path string, m *proto.Manifest, files *Files) (*tree, error) {
	at, err := openPlace(files.fs, path)
	if err != nil {
		return nil, err
	}
	defer at.close()
	t := newTree(path, m, files)
	if err := t.open(at); err != nil {
		return nil, err
	}
	return t, nil
}

// newTree returns the tree at path, which is not open.
func newTree(path string, m *proto.Manifest, files *Files) *tree {
	t := &tree{m: m, layout: newLayout(m), files: files, path: path, dir: path, preparing: make(map[int]chan struct{}), renamed: make(map[string]bool)}
	for _, set := range []*bitset{&t.dirty, &t.ready, &t.settled, &t.unstamped, &t.foreign} {
		*set = newBitset(t.layout.files())
	}
	if isSingle(m) {
		t.dir, t.single = filepath.Dir(path), filepath.Base(path)
	}
	return t
}

// open opens the root.
func (t *tree) open(at *place) error {
	err := t.permit(-1, ".", func() (err error) {
		t.root, err = at.open(t.single != "")
		return err
	})
	var changed *ChangedError
	if err != nil && !errors.As(err, &changed) {
		return &UnreadableError{Path: t.dir, Err: withoutPath(err)}
	}
	return err
}

// isSingle reports whether the content is a single file.
func isSingle(m *proto.Manifest) bool { return len(m.Entries) == 1 && m.Entries[0].Path == "" }

// close closes all files and the root. Files in use are closed by their users.
func (t *tree) close() error {
	t.closeFiles()
	return t.root.Close()
}

// closeFiles closes all files. Those in use are closed by their users.
func (t *tree) closeFiles() {
	t.files.drop(t)
	t.closing.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.top != nil {
		_ = t.top.Close() // nothing was written to it
		t.top = nil
	}
}

// makeReadOnly closes all files. They are opened again for reading only.
func (t *tree) makeReadOnly() {
	t.ready.takeAll()
	t.settled.takeAll()
	t.files.drop(t)
}

// name returns the name of an entry in root.
func (t *tree) name(entry int) string {
	if t.single != "" {
		return t.single
	}
	return filepath.FromSlash(t.m.Entries[entry].Path)
}

// fileName returns the name of a file in root.
func (t *tree) fileName(file int) string { return t.name(int(t.layout.entries[file])) }

// entry returns the entry of a file.
func (t *tree) entry(file int) *proto.Entry { return &t.m.Entries[t.layout.entries[file]] }

// fullPath returns the path of a name in root, for messages.
func (t *tree) fullPath(name string) string {
	if t.single != "" {
		return t.path
	}
	return filepath.Join(t.path, name)
}

// readAt fills p from a file.
func (t *tree) readAt(file int, p []byte, offset int64) (int, error) {
	if t.layout.pad(file) {
		clear(p)
		return len(p), nil
	}
	h, err := t.files.acquire(t, file)
	if err != nil {
		return 0, t.unreadable(file, err)
	}
	defer t.files.release(h)
	n, err := h.f.ReadAt(p, offset)
	if n < len(p) && err == io.EOF {
		return n, fmt.Errorf("%s ends before its %d bytes: %w",
			t.fullPath(t.fileName(file)), t.layout.size(file), io.ErrUnexpectedEOF)
	}
	if n < len(p) {
		return n, t.unreadable(file, err)
	}
	if t.exact && offset+int64(n) == t.layout.size(file) {
		return n, t.checkEnd(h.f, t.fileName(file), t.layout.size(file))
	}
	return n, nil
}

// checkEnd fails if an open file has more bytes than its size says: it grows, or the system makes
// its bytes when they are read, as in /proc.
func (t *tree) checkEnd(f vfs.File, name string, size int64) error {
	var b [1]byte
	n, err := f.ReadAt(b[:], size)
	switch {
	case n > 0:
		return fmt.Errorf("%s has more than the %d bytes of its size, as files that grow and files in /proc do: "+
			"it cannot be shared; copy it to another file first", t.fullPath(name), size)
	case err == nil || err == io.EOF:
		return nil
	}
	return &UnreadableError{Path: t.fullPath(name), Err: withoutPath(err)}
}

// unreadable turns why a file was not read into an [*UnreadableError], unless the file is
// gone or was replaced, or the store is closed.
func (t *tree) unreadable(file int, err error) error {
	if removed(err) || errors.Is(err, os.ErrClosed) {
		return err
	}
	return &UnreadableError{Path: t.fullPath(t.fileName(file)), Err: withoutPath(err)}
}

// writeAt writes p to a file, which it creates if necessary.
func (t *tree) writeAt(file int, p []byte, offset int64) (int, error) {
	if t.layout.pad(file) {
		return len(p), nil
	}
	fills := int64(len(p)) == t.layout.size(file)
	h, err := t.acquireReady(file, fills)
	if err != nil {
		return 0, err
	}
	defer t.files.release(h)
	n, err := writeInParts(h.f, p, offset)
	t.unstamped.set(file)
	if err != nil && fills {
		t.ready.clear(file) // it may be shorter than it has to be
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

// openFile implements opener.
func (t *tree) openFile(file int) (vfs.File, error) {
	name := t.fileName(file)
	if !t.ready.has(file) {
		var f vfs.File
		err := t.permit(file, name, func() (err error) {
			var info fs.FileInfo
			if f, info, err = t.openRegular(name, os.O_RDONLY); err == nil {
				err = t.checkFollowed(file, f, info)
			}
			return err
		})
		return f, err
	}
	f, err := t.openWritable(int(t.layout.entries[file]), t.owner.written(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &ChangedError{Path: t.fullPath(name), Reason: "it is gone", Err: err}
	}
	if err != nil {
		return nil, err
	}
	// A file that was truncated would be extended by a write, and read as zeros.
	if f.info.Size() != t.layout.size(file) {
		err = &ChangedError{Path: t.fullPath(name), Reason: "its size differs"}
	} else if vfs.StatOf(f.info).Inode != t.owner.written(file) {
		err = t.owner.prepared(file, f)
	}
	if err != nil {
		t.closeFile(f.File)
		return nil, err
	}
	return f.File, nil
}

// checkFollowed closes an open file of a seed and fails if a symbolic link leads to another file
// than when the seed was hashed: peers must not get bytes of a file that was not seeded.
func (t *tree) checkFollowed(file int, f vfs.File, info fs.FileInfo) error {
	if t.owner == nil || !vfs.Follows(t.files.fs) || vfs.StatOf(info).Inode == t.owner.written(file) {
		return nil
	}
	t.closeFile(f)
	return &ChangedError{Path: t.fullPath(t.fileName(file)), Reason: "it is another file now; seed it again"}
}

// closeFile implements opener. File systems of a network may report only now that bytes
// were not written.
func (t *tree) closeFile(f vfs.File) {
	if err := f.Close(); err != nil && t.owner != nil {
		t.owner.fail(err)
	}
}

// closeLater implements opener.
func (t *tree) closeLater(f vfs.File) { t.closing.Go(func() { t.closeFile(f) }) }

// openRegular opens a regular file that exists. It follows no link.
func (t *tree) openRegular(name string, flags int) (vfs.File, fs.FileInfo, error) {
	// Nonblocking, should a named pipe have taken the file's place.
	f, err := t.root.OpenFile(name, flags|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && notThere(err) {
		return nil, nil, &ChangedError{Path: t.fullPath(name), Reason: "it is not a regular file", Err: err}
	}
	if err != nil {
		return nil, nil, t.withPath(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &ChangedError{Path: t.fullPath(name), Reason: "it is not a regular file"}
	}
	if err != nil {
		t.closeFile(f)
		return nil, nil, err
	}
	return f, info, nil
}

// notThere reports whether an error of a [vfs.Root] means that there is no such file below
// it: because the file is missing, or something is in its way.
func notThere(err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno == syscall.ENOTDIR || errno == syscall.ELOOP
	}
	// A directory was replaced by a link that leads out of the root.
	return !errors.Is(err, os.ErrClosed)
}

// withPath puts the full path into an error of root about name.
func (t *tree) withPath(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: "open", Path: t.fullPath(name), Err: p.Err}
	}
	return err
}

// withoutPath returns the cause of an error about a path.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
