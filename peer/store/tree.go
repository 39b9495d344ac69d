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

// tree has the files of the content on disk, by the numbers of their entries. It opens,
// creates and changes all of them through a [vfs.Root], so no symbolic link leads out
// of the content, whoever created it and when.
type tree struct {
	layout
	files      *Files
	root       vfs.Root // the content's directory, or the directory of its only file
	path       string   // of the content, for messages
	temp       string   // prefix of the names of temporary files
	opt        treeOptions
	permitting sync.Mutex // held while modes are wider than the content's
	names      names
}

type treeOptions struct {
	ours    bool            // the transfer made the files, see permit
	special bool            // see [Disk.KeepSpecialBits]
	fail    func(err error) // called if bytes that were written may be lost; nil for a tree that is only read
}

// names has what the next flush of names has to cover.
type names struct {
	mu      sync.Mutex
	top     vfs.File        // the root, opened before the first write
	changed map[string]bool // directories with names that are not flushed
	device  uint64          // of the files, 0 if that is not known
	mounts  bool            // some files are on other file systems
}

// open opens the root.
func (t *tree) open(at *place) error {
	t.path = at.path
	root, err := permit(t, ".", func() (vfs.Root, error) { return at.open(t.single()) })
	t.root = root
	if _, changed := errors.AsType[*ChangedError](err); err != nil && !changed {
		return cannotRead(t.dir(), err)
	}
	return err
}

// isSingle reports whether the content is a single file.
func isSingle(m *proto.Manifest) bool { return len(m.Entries) == 1 && m.Entries[0].Path == "" }

// single reports whether the content is a single file, in root.
func (t *tree) single() bool { return isSingle(t.m) }

// dir returns the path of root.
func (t *tree) dir() string {
	if t.single() {
		return filepath.Dir(t.path)
	}
	return t.path
}

// name returns the name of an entry in root. The root goes by the number of entries.
func (t *tree) name(entry int) string {
	switch {
	case entry == len(t.m.Entries):
		return "."
	case t.single():
		return filepath.Base(t.path)
	}
	return filepath.FromSlash(t.m.Entries[entry].Path)
}

// fullPath returns the path of a name in root, for messages.
func (t *tree) fullPath(name string) string {
	if t.single() {
		return t.path
	}
	return filepath.Join(t.path, name)
}

// checkEmpty fails if an open file of no bytes has some: it grows, or the system makes its bytes when they are read, as in /proc.
func (t *tree) checkEmpty(f vfs.File, name string) error {
	var b [1]byte
	n, err := f.ReadAt(b[:], 0)
	switch {
	case n > 0:
		return fmt.Errorf("%s has more than the 0 bytes of its size, as files that grow and files in /proc do: "+
			"it cannot be shared; copy it to another file first", t.fullPath(name))
	case err == nil || err == io.EOF:
		return nil
	}
	return cannotRead(t.fullPath(name), err)
}

// unreadable turns why a file was not read into an [*UnreadableError], unless the file
// was removed or replaced, or the store is closed.
func (t *tree) unreadable(name string, err error) error {
	if err == nil || removed(err) || errors.Is(err, os.ErrClosed) {
		return err
	}
	return cannotRead(t.fullPath(name), err)
}

// closeFile closes a file. File systems of a network may report only now that bytes
// were not written.
func (t *tree) closeFile(f vfs.File) {
	if err := f.Close(); err != nil && t.opt.fail != nil {
		t.opt.fail(err)
	}
}

// notRegular is the reason if something else has the name of a file.
const notRegular = "it is not a regular file: remove what has its name"

// openRegular opens a regular file that exists. It follows no link.
func (t *tree) openRegular(name string, flags int) (vfs.File, fs.FileInfo, error) {
	// Nonblocking, should a named pipe have taken the file's place.
	f, err := t.root.OpenFile(name, flags|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && notThere(err) {
		return nil, nil, &ChangedError{Path: t.fullPath(name), Reason: notRegular, Err: err}
	}
	if err != nil {
		return nil, nil, t.withPath(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &ChangedError{Path: t.fullPath(name), Reason: notRegular}
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
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno == syscall.ENOTDIR || errno == syscall.EISDIR || errno == syscall.ELOOP
	}
	// A directory was replaced by a link that leads out of the root.
	return !errors.Is(err, os.ErrClosed)
}

// withPath puts the full path into an error of root about name.
func (t *tree) withPath(name string, err error) error { return withPath(t.fullPath(name), err) }

// withPath puts a path into an error.
func withPath(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "open", Path: path, Err: p.Err}
	}
	return err
}

// withoutPath returns the cause of an error about a path.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// find describes what has a name. It returns nil if nothing has it.
func (t *tree) find(name string) (fs.FileInfo, error) {
	info, err := t.lstat(name)
	if err == nil || !notThere(err) {
		return info, t.unreadable(name, err)
	}
	return nil, nil
}

// stat is find for a file. It returns nil if something else has its name.
func (t *tree) stat(file int) (fs.FileInfo, error) { return regular(t.find(t.name(file))) }

// regular returns info, or nil if that is not of a regular file.
func regular(info fs.FileInfo, err error) (fs.FileInfo, error) {
	if info != nil && !info.Mode().IsRegular() {
		return nil, err
	}
	return info, err
}

// owns reports whether a transfer may write to what has a name, of which info is.
func (t *tree) owns(name string, f journal.File, info fs.FileInfo) bool {
	return f.Owns(vfs.StatOf(info).Inode) && t.bornAs(name, f)
}

// bornAs reports whether what has a name was created when the file of a record was, as far as that is known.
func (t *tree) bornAs(name string, f journal.File) bool {
	born := f.Born
	if born != 0 {
		born = t.root.Born(name)
	}
	return born == 0 || born == f.Born
}

// lstat describes what has a name.
func (t *tree) lstat(name string) (fs.FileInfo, error) {
	return permit(t, filepath.Dir(name), func() (fs.FileInfo, error) { return t.root.Lstat(name) })
}
