package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// transferFileMode and transferDirMode are the modes until Finish: nobody
	// else takes half a file for a whole one.
	transferFileMode = 0o600
	transferDirMode  = 0o700
)

// makeReady makes sure that a file is there with its final size, as a hole where
// nothing is written yet. Its folders are made as well.
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

// openOrCreate opens a file for writing, and makes it if it is not there.
func (t *tree) openOrCreate(name string) (*os.File, fs.FileInfo, error) {
	f, info, err := t.openRegular(name, os.O_RDWR)
	if errors.Is(err, fs.ErrPermission) {
		t.allow(name)
		f, info, err = t.openRegular(name, os.O_RDWR)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return f, info, err
	}
	f, err = t.create(name)
	if errors.Is(err, fs.ErrPermission) {
		t.allow(name)
		f, err = t.create(name)
	}
	if err != nil {
		return nil, nil, t.explain(name, err)
	}
	info, err = f.Stat()
	return f, info, err
}

// create makes a file and the folders that it is in.
func (t *tree) create(name string) (*os.File, error) {
	// With O_EXCL no link is followed, not even one to nowhere.
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

// allow lets us write to a file and its folders. They got their final modes
// before, when the content was whole or nearly so. What fails here fails again
// where it matters.
func (t *tree) allow(name string) {
	if t.single == "" {
		for i, c := range name {
			if c == filepath.Separator {
				t.allowDir(name[:i])
			}
		}
	}
	if info, err := t.root.Lstat(name); err == nil && info.Mode().IsRegular() {
		_ = t.root.Chmod(name, info.Mode().Perm()|transferFileMode)
	}
}

func (t *tree) allowDir(name string) {
	info, err := t.root.Lstat(name)
	if err == nil && info.IsDir() && info.Mode().Perm()&transferDirMode != transferDirMode {
		_ = t.root.Chmod(name, info.Mode().Perm()|transferDirMode)
	}
}
