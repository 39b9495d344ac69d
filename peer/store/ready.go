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
	f, err := t.openToPrepare(file)
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
	if f.created {
		t.made.set(file)
	}
	// In the place of one that is open for reading.
	h := t.files.put(t, file, f.File)
	t.ready.set(file)
	return h, nil
}

// openToPrepare opens a file for writing, or creates it.
func (t *tree) openToPrepare(file int) (writable, error) {
	name := t.fileName(file)
	if t.owner.written(file) == 0 {
		// Most likely it is not there, and its directory is.
		if f, err := t.root.OpenFile(name, createFlags, transferFileMode); err == nil {
			return t.created(name, f)
		}
	}
	return t.openOrCreate(name)
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

// openOrCreate opens a file for writing and creates it if it does not exist.
func (t *tree) openOrCreate(name string) (writable, error) {
	w, err := t.openWritable(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return w, err
	}
	f, err := t.create(name)
	if errors.Is(err, fs.ErrPermission) {
		t.makeDirsWritable(name)
		f, err = t.create(name)
	}
	if err != nil {
		return w, t.withPath(name, err)
	}
	return t.created(name, f)
}

// created returns a file that was just created.
func (t *tree) created(name string, f vfs.File) (writable, error) {
	t.noteName(name)
	info, err := f.Stat()
	if err != nil {
		t.closeFile(f)
		return writable{}, err
	}
	return writable{f, info, info, true}, nil
}

// openWritable opens a file that exists for writing. If the file has other names, they keep
// what it was: the name gets a copy.
func (t *tree) openWritable(name string) (w writable, err error) {
	w.File, w.info, err = t.openRegular(name, os.O_RDWR)
	if errors.Is(err, fs.ErrPermission) {
		t.makeWritable(name)
		w.File, w.info, err = t.openRegular(name, os.O_RDWR)
	}
	w.was = w.info
	if errors.Is(err, fs.ErrPermission) {
		// With other names, it keeps its mode.
		var statErr error
		w.was, statErr = t.root.Lstat(name)
		if statErr != nil || vfs.StatOf(w.was).Links <= 1 {
			return w, err
		}
	} else if err != nil || vfs.StatOf(w.info).Links <= 1 {
		return w, err
	} else {
		t.closeFile(w.File)
	}
	if err := t.separate(name); err != nil {
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

// makeWritable makes a file that has no other name and the directories above it writable:
// settle or Publish may have set their final modes. Errors show when the file is opened.
func (t *tree) makeWritable(name string) {
	t.makeDirsWritable(name)
	if info, err := t.root.Lstat(name); err == nil && info.Mode().IsRegular() && vfs.StatOf(info).Links <= 1 {
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
