package store

import (
	"errors"
	"io/fs"
	"os"

	"github.com/mobgrid/mob/proto"
)

// createDirs creates all directories, or makes those that exist writable until
// finishDirs. The second time it creates none: what is missing was removed since.
func (t *tree) createDirs(again bool) error {
	if t.m.Root != nil {
		t.makeRootWritable()
	}
	for i := range t.m.Entries {
		if t.m.Entries[i].Kind != proto.Dir {
			continue
		}
		name := t.name(i)
		if !again {
			err := t.root.Mkdir(name, transferDirMode)
			if err == nil {
				continue
			}
			if !errors.Is(err, fs.ErrExist) {
				return t.withPath(name, err)
			}
		}
		info, err := t.root.Lstat(name)
		if again && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !info.IsDir() {
			return &ChangedError{Path: t.fullPath(name), Reason: "it is not a folder"}
		}
		t.makeDirWritable(name)
	}
	return nil
}

// finishDirs gives all directories their time and mode, the inner ones first, since
// changes in a directory change its time and may need it to be writable.
func (t *tree) finishDirs(again bool) error {
	for i := len(t.m.Entries) - 1; i >= 0; i-- {
		e := &t.m.Entries[i]
		if e.Kind != proto.Dir {
			continue
		}
		err := t.finishDir(t.name(i), e)
		if err != nil && !(again && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	if t.m.Root == nil {
		return nil
	}
	return t.finishDir(".", t.m.Root)
}

func (t *tree) finishDir(name string, e *proto.Entry) error {
	f, err := t.root.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return t.withPath(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || t.hasMetadata(info, e) {
		return err
	}
	return t.setMetadata(f, info, name, e)
}

// syncDirs flushes all names, modes and times.
func (t *tree) syncDirs(again bool) error {
	if t.bulk() {
		// Where this is not possible, a crash may lose modes and times, but no
		// bytes, and Open notices.
		if done, err := t.syncAll(); done {
			return err
		}
	}
	for i := range t.m.Entries {
		if t.m.Entries[i].Kind != proto.Dir {
			continue
		}
		err := t.syncDir(t.name(i))
		if err != nil && !(again && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	if err := t.syncDir("."); err != nil {
		return err
	}
	return t.syncParent()
}
