package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/vfs"
)

const (
	// transferFileMode and transferDirMode apply until settle or Publish, so that no other
	// user takes a partial file for a whole one.
	transferFileMode = 0o600
	transferDirMode  = 0o700

	// createFlags are those of a new file. With O_EXCL no link is followed, not even a
	// dangling one.
	createFlags = os.O_RDWR | os.O_CREATE | os.O_EXCL
)

// makeReady prepares a file for writing: it exists with its final size, is no other file of
// the content, and has no other name. What is not written yet is a hole. The directories
// above it are created.
func (t *tree) makeReady(file int) error {
	h, err := t.prepare(file, false)
	if h != nil {
		t.files.release(h)
	}
	return err
}

// acquireReady returns a file that is ready, and open for writing. If the caller fills it by
// one write, a new file does not get its size before.
func (t *tree) acquireReady(file int, fills bool) (*handle, error) {
	if !t.ready.has(file) {
		if h, err := t.prepare(file, fills); h != nil || err != nil {
			return h, err
		}
	}
	return t.files.acquire(t, file)
}

// prepare makes a file ready and returns it open for writing. It returns nil if the file is
// ready already.
func (t *tree) prepare(file int, fills bool) (*handle, error) {
	if !t.beginReady(file) {
		return nil, nil
	}
	defer t.endReady(file)
	if err := t.openTop(); err != nil {
		return nil, err
	}
	f, err := t.openOrCreate(int(t.layout.entries[file]), t.owner.written(file))
	if err != nil {
		return nil, err
	}
	// Before the size changes: this may not be a file to write to.
	err = t.owner.prepared(file, f)
	if size := t.layout.size(file); err == nil && f.info.Size() != size && !(fills && f.created) {
		t.unstamped.set(file)
		err = f.Truncate(size)
	}
	if err != nil {
		t.closeFile(f.File)
		return nil, err
	}
	t.mu.Lock()
	t.noteDevice(f.info)
	t.mu.Unlock()
	// In the place of one that is open for reading.
	h := t.files.put(t, file, f.File)
	t.ready.set(file)
	return h, nil
}

// beginReady reports whether the caller has to make a file ready. If another goroutine
// does, it waits for that.
func (t *tree) beginReady(file int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if t.ready.has(file) || t.layout.pad(file) {
			return false
		}
		other := t.preparing[file]
		if other == nil {
			t.preparing[file] = make(chan struct{})
			return true
		}
		t.mu.Unlock()
		<-other
		t.mu.Lock()
	}
}

func (t *tree) endReady(file int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.preparing[file])
	delete(t.preparing, file)
}

// openTop opens the root, unless it is open: from then on the system reports to it which
// writes fail.
func (t *tree) openTop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.top != nil {
		return nil
	}
	var top vfs.File
	err := t.permit(-1, ".", func() (err error) {
		top, err = t.root.OpenFile(".", os.O_RDONLY, 0)
		return err
	})
	if err != nil {
		return t.withPath(".", err)
	}
	info, err := top.Stat()
	if err != nil {
		return errors.Join(err, top.Close())
	}
	t.top = top
	t.noteDevice(info)
	return nil
}

// noteName notes that the next flush has to cover a name, and those of the directories above
// it.
func (t *tree) noteName(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for dir := filepath.Dir(name); !t.renamed[dir]; dir = filepath.Dir(dir) {
		t.renamed[dir] = true
	}
}

// noteDevice notes whether the whole content is on one file system. The caller holds the
// lock, unless the tree is not in use yet.
func (t *tree) noteDevice(info fs.FileInfo) {
	device := vfs.StatOf(info).Device
	t.mounts = t.mounts || t.device != 0 && t.device != device
	t.device = device
}

// writable is a file that is open for writing.
type writable struct {
	vfs.File
	info    fs.FileInfo
	was     fs.FileInfo // of the file that this is a copy of, or info
	created bool
}

// openOrCreate opens the file of an entry for writing if it has an inode number that is not 0, and creates it if it does
// not exist. It fails with [*ExistsError] if there is another file.
func (t *tree) openOrCreate(entry int, inode uint64) (w writable, err error) {
	name := t.name(entry)
	if inode != 0 {
		w, err = t.openWritable(entry, inode)
		if !errors.Is(err, fs.ErrNotExist) {
			return w, err
		}
	}
	f, err := t.create(name)
	if errors.Is(err, fs.ErrPermission) {
		t.makeDirsWritable(name)
		f, err = t.create(name)
	}
	if errors.Is(err, fs.ErrExist) {
		return w, t.owner.foreign(name)
	}
	if err != nil {
		return w, t.withPath(name, err)
	}
	t.noteName(name)
	info, err := f.Stat()
	if err != nil {
		t.closeFile(f)
		return writable{}, err
	}
	return writable{f, info, info, true}, nil
}

// openWritable opens the file of an entry for writing, and fails with [*ExistsError] if that has another inode number. If
// the file has other names, they keep what it was: the entry gets a copy.
func (t *tree) openWritable(entry int, inode uint64) (w writable, err error) {
	name := t.name(entry)
	w.File, w.info, err = t.openRegular(name, os.O_RDWR)
	if errors.Is(err, fs.ErrPermission) {
		t.makeWritable(name, inode)
		w.File, w.info, err = t.openRegular(name, os.O_RDWR)
	}
	w.was = w.info
	if errors.Is(err, fs.ErrPermission) {
		// With other names, it keeps its mode.
		var statErr error
		if w.was, statErr = t.root.Lstat(name); statErr != nil {
			return w, err
		}
	} else if err != nil {
		return w, err
	}
	own := vfs.StatOf(w.was).Inode == inode
	if own && vfs.StatOf(w.was).Links <= 1 {
		return w, err
	}
	if w.File != nil {
		t.closeFile(w.File)
	}
	if !own {
		return w, t.owner.foreign(name)
	}
	if err := t.separate(entry); err != nil {
		return w, err
	}
	if w.File, w.info, err = t.openRegular(name, os.O_RDWR); err != nil {
		return w, err
	}
	if vfs.StatOf(w.info).Links > 1 {
		t.closeFile(w.File)
		return w, &ChangedError{Path: t.fullPath(name), Reason: "it got another name meanwhile"}
	}
	return w, nil
}

// create creates a file and the directories above it.
func (t *tree) create(name string) (vfs.File, error) {
	f, err := t.root.OpenFile(name, createFlags, transferFileMode)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := t.root.MkdirAll(filepath.Dir(name), transferDirMode); err != nil {
		return nil, err
	}
	return t.root.OpenFile(name, createFlags, transferFileMode)
}

// makeWritable makes the file with an inode number, if it has no other name, and the directories above it writable:
// settle or Publish may have set their final modes. Errors show when the file is opened.
func (t *tree) makeWritable(name string, inode uint64) {
	t.makeDirsWritable(name)
	info, err := t.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if s := vfs.StatOf(info); s.Inode == inode && s.Links <= 1 {
		_ = t.root.Chmod(name, info.Mode().Perm()|transferFileMode)
	}
}

// makeDirsWritable makes the directories above a name writable.
func (t *tree) makeDirsWritable(name string) {
	if t.single != "" {
		return
	}
	t.makeRootWritable()
	for i, c := range name {
		if c == filepath.Separator {
			t.makeDirWritable(name[:i])
		}
	}
}

func (t *tree) makeDirWritable(name string) {
	info, err := t.root.Lstat(name)
	if err == nil && info.IsDir() && info.Mode().Perm()&transferDirMode != transferDirMode {
		_ = t.root.Chmod(name, info.Mode()&modeBits|transferDirMode)
	}
}
