package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// transferFileMode and transferDirMode apply until Publish, so that no other
	// user takes a partial file for a whole one.
	transferFileMode = 0o600
	transferDirMode  = 0o700
)

// makeReady ensures that a file exists with its final size. What is not written yet is
// a hole. It creates the directories above it.
func (t *tree) makeReady(file int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ready.has(file) || t.layout.pad(file) {
		return nil
	}
	f, info, err := t.openOrCreate(t.fileName(file))
	if err != nil {
		return err
	}
	defer f.Close()
	if size := t.layout.size(file); info.Size() != size {
		if err := f.Truncate(size); err != nil {
			return err
		}
	}
	if err := t.created(file, inode(info)); err != nil {
		return err
	}
	t.ready.set(file)
	return nil
}

// openOrCreate opens a file for writing and creates it if it does not exist.
func (t *tree) openOrCreate(name string) (*os.File, fs.FileInfo, error) {
	f, info, err := t.openRegular(name, os.O_RDWR)
	if errors.Is(err, fs.ErrPermission) {
		t.makeWritable(name)
		f, info, err = t.openRegular(name, os.O_RDWR)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return f, info, err
	}
	f, err = t.create(name)
	if errors.Is(err, fs.ErrPermission) {
		t.makeWritable(name)
		f, err = t.create(name)
	}
	if err != nil {
		return nil, nil, t.withPath(name, err)
	}
	info, err = f.Stat()
	return f, info, err
}

// create creates a file and the directories above it.
func (t *tree) create(name string) (*os.File, error) {
	// With O_EXCL no link is followed, not even a dangling one.
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	f, err := t.root.OpenFile(name, flags, transferFileMode)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := t.root.MkdirAll(filepath.Dir(name), transferDirMode); err != nil {
		return nil, err
	}
	return t.root.OpenFile(name, flags, transferFileMode)
}

// makeWritable makes a file and the directories above it writable: a Publish that did
// not complete may have set their final modes. Errors show when the file is opened.
func (t *tree) makeWritable(name string) {
	if t.single == "" {
		for i, c := range name {
			if c == filepath.Separator {
				t.makeDirWritable(name[:i])
			}
		}
	}
	if info, err := t.root.Lstat(name); err == nil && info.Mode().IsRegular() {
		_ = t.root.Chmod(name, info.Mode().Perm()|transferFileMode)
	}
}

func (t *tree) makeDirWritable(name string) {
	info, err := t.root.Lstat(name)
	if err == nil && info.IsDir() && info.Mode().Perm()&transferDirMode != transferDirMode {
		_ = t.root.Chmod(name, info.Mode().Perm()|transferDirMode)
	}
}
