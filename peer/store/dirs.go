package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// createDirs creates all directories, or makes those that exist writable until finishDirs.
func (t *tree) createDirs() error {
	if t.m.Root != nil {
		t.makeRootWritable()
	}
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
// changes in a directory change its time and may need it to be writable.
func (t *tree) finishDirs() error {
	for i := len(t.m.Entries) - 1; i >= 0; i-- {
		if e := &t.m.Entries[i]; e.Kind == proto.Dir {
			if err := t.finishDir(t.name(i), e); err != nil {
				return err
			}
		}
	}
	if t.m.Root == nil {
		return nil
	}
	return t.finishDir(".", t.m.Root)
}

func (t *tree) finishDir(name string, e *proto.Entry) error {
	f, err := t.openDir(name)
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

// openDir opens a directory. It fails if something else has its name.
func (t *tree) openDir(name string) (f vfs.File, err error) {
	err = t.permit(-1, name, func() (err error) {
		f, err = t.root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
		return err
	})
	return f, err
}
