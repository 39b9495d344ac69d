package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mobgrid/mob/proto"
)

// tree is the files of a content on disk, by the file numbers of its layout. It opens,
// creates and changes all of them through an [os.Root], so no symbolic link leads out
// of the content, whoever created it and when.
type tree struct {
	m      *proto.Manifest
	layout layout
	files  *Files
	root   *os.Root // the content's directory, or that of its only file
	path   string   // of the content, for messages
	single string   // the file's name in root if the content is a single file
	// created is called with a new file before anything is written to it.
	created func(file int, inode uint64) error

	writable atomic.Bool
	dirty    bitset // files written to since the last flush
	ready    bitset // files that exist with their final size

	mu sync.Mutex // held while a file is made ready
}

// openTree opens the files at path, which exists, for reading.
func openTree(path string, m *proto.Manifest, files *Files) (*tree, error) {
	t := &tree{m: m, layout: newLayout(m), files: files, path: path}
	t.dirty, t.ready = newBitset(t.layout.files()), newBitset(t.layout.files())
	dir := path
	if isSingle(m) {
		dir, t.single = filepath.Dir(path), filepath.Base(path)
	}
	var err error
	t.root, err = os.OpenRoot(dir)
	return t, err
}

// isSingle reports whether the content is a single file.
func isSingle(m *proto.Manifest) bool { return len(m.Entries) == 1 && m.Entries[0].Path == "" }

// close closes all files. Those in use are closed by their users.
func (t *tree) close() error {
	err := t.root.Close()
	t.files.drop(t)
	return err
}

// makeReadOnly closes all files. They are opened again for reading only.
func (t *tree) makeReadOnly() {
	t.writable.Store(false)
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
		err = t.unreadable(file, err)
	}
	return n, err
}

// unreadable turns why a file was not read into an [*UnreadableError], unless the file is
// gone or was replaced, or the store is closed.
func (t *tree) unreadable(file int, err error) error {
	var changed *ChangedError
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, os.ErrClosed) || errors.As(err, &changed) {
		return err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // without the path
	}
	return &UnreadableError{Path: t.fullPath(t.fileName(file)), Err: err}
}

// writeAt writes p to a file, which it creates if necessary.
func (t *tree) writeAt(file int, p []byte, offset int64) (int, error) {
	if t.layout.pad(file) {
		return len(p), nil
	}
	if !t.ready.has(file) {
		if err := t.makeReady(file); err != nil {
			return 0, err
		}
	}
	h, err := t.files.acquire(t, file)
	if err != nil {
		return 0, err
	}
	defer t.files.release(h)
	n, err := writeInParts(h.f, p, offset)
	// After the write, so that a flush which takes the bit has the bytes.
	t.dirty.set(file)
	return n, err
}

// writePart is the size of a single write to a file. Linux makes the page cache of a
// new file of blocks as large as the writes. Up to 32 KiB these come from lists of
// recently used memory. Larger ones come from idle memory, whose first touch costs a
// virtual machine more than the saved calls.
const writePart = 32 << 10

func writeInParts(f *os.File, p []byte, offset int64) (n int, err error) {
	for n < len(p) && err == nil {
		var done int
		done, err = f.WriteAt(p[n:min(n+writePart, len(p))], offset+int64(n))
		n += done
	}
	return n, err
}

// openFile implements opener.
func (t *tree) openFile(file int) (*os.File, error) {
	name, flags := t.fileName(file), os.O_RDONLY
	if t.writable.Load() {
		flags = os.O_RDWR
	}
	f, info, err := t.openRegular(name, flags)
	if errors.Is(err, fs.ErrPermission) && flags == os.O_RDWR {
		t.makeWritable(name)
		f, info, err = t.openRegular(name, flags)
	}
	if !t.ready.has(file) {
		return f, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &ChangedError{Path: t.fullPath(name), Reason: "it is gone", Err: err}
	}
	// A file that was truncated would be extended by a write, and read as zeros.
	if err == nil && info.Size() != t.layout.size(file) && flags == os.O_RDWR {
		f.Close()
		return nil, &ChangedError{Path: t.fullPath(name), Reason: "its size differs"}
	}
	return f, err
}

// closeFile implements opener.
func (t *tree) closeFile(f *os.File) error { return f.Close() }

// openRegular opens a regular file that exists. It follows no link.
func (t *tree) openRegular(name string, flags int) (*os.File, fs.FileInfo, error) {
	// Nonblocking, should a named pipe have taken the file's place.
	f, err := t.root.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && notThere(err) {
		return nil, nil, &ChangedError{Path: t.fullPath(name), Reason: "it is not a regular file", Err: err}
	}
	if err != nil {
		return nil, nil, t.withPath(name, err)
	}
	info, err := f.Stat()
	if err == nil {
		// The root would follow a link to another file of the content.
		var linkInfo fs.FileInfo
		linkInfo, err = t.root.Lstat(name)
		if err == nil && (!linkInfo.Mode().IsRegular() || !os.SameFile(info, linkInfo)) {
			err = &ChangedError{Path: t.fullPath(name), Reason: "it is not a regular file"}
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// withPath puts the full path into an error of root about name.
func (t *tree) withPath(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: "open", Path: t.fullPath(name), Err: p.Err}
	}
	return err
}
