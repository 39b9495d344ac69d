package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mobgrid/mob/proto"
)

// createDirs creates all directories, or makes those that exist writable until
// finishDirs.
func (t *tree) createDirs() error {
	for i := range t.m.Entries {
		if t.m.Entries[i].Kind != proto.Dir {
			continue
		}
		name := t.name(i)
		err := t.root.Mkdir(name, transferDirMode)
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrExist) {
			return t.withPath(name, err)
		}
		if info, err := t.root.Lstat(name); err != nil || !info.IsDir() {
			return &ChangedError{Path: t.fullPath(name), Reason: "it is not a folder"}
		}
		t.makeDirWritable(name)
	}
	return nil
}

// finishDirs gives all directories their time and mode, the inner ones first, since
// changes in a directory change its time and may need it to be writable. Then it
// flushes all names, modes and times.
func (t *tree) finishDirs() error {
	for i := len(t.m.Entries) - 1; i >= 0; i-- {
		e := &t.m.Entries[i]
		if e.Kind != proto.Dir {
			continue
		}
		if err := t.finishDir(t.name(i), e); err != nil {
			return err
		}
	}
	if t.bulk() {
		// Where this is not possible, a crash may lose modes and times, but no
		// bytes, and Open notices.
		if done, err := t.syncAll(); done {
			return err
		}
	}
	if err := t.syncRoot(); err != nil {
		return err
	}
	if parent, err := os.Open(filepath.Dir(t.path)); err == nil {
		defer parent.Close()
		return syncFile(parent)
	}
	return nil // the parent is not ours to read
}

func (t *tree) finishDir(name string, e *proto.Entry) error {
	f, err := t.root.Open(name)
	if err != nil {
		return t.withPath(name, err)
	}
	defer f.Close()
	return t.setMetadata(f, name, e)
}

func (t *tree) syncRoot() error {
	f, err := t.root.Open(".")
	if err != nil {
		return t.withPath(".", err)
	}
	defer f.Close()
	return syncFile(f)
}

// syncFile flushes a file or directory. Not all file systems can flush a directory.
func syncFile(f *os.File) error {
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
