package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mobgrid/mob/proto"
)

// makeFolders makes all folders, or makes those there writable for the time being.
func (t *tree) makeFolders() error {
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
			return t.explain(name, err)
		}
		if info, err := t.root.Lstat(name); err != nil || !info.IsDir() {
			return &ChangedError{Path: t.fullPath(name), Reason: "it is not a folder"}
		}
		t.allowDir(name)
	}
	return nil
}

// makeLinks makes the symbolic links. It comes after the content, so that none of
// them is ever in the way of a write.
func (t *tree) makeLinks() error {
	for i := range t.m.Entries {
		e := &t.m.Entries[i]
		if e.Kind != proto.Symlink {
			continue
		}
		name, target := t.name(i), filepath.FromSlash(e.Target)
		info, err := t.root.Lstat(name)
		if err == nil && info.Mode().Type() != fs.ModeSymlink {
			return fmt.Errorf("%s is in the way of a symbolic link: remove it", t.fullPath(name))
		}
		if err == nil {
			if is, err := t.root.Readlink(name); err == nil && is == target {
				continue
			}
			if err := t.root.Remove(name); err != nil {
				return t.explain(name, err)
			}
		}
		if err := t.root.Symlink(target, name); err != nil {
			return err
		}
	}
	return nil
}

// finishFolders gives all folders their time and mode, the inner ones first: what
// happens in a folder changes its time, and may need it to be writable. Then it
// flushes all that Finish did to names, modes and times.
func (t *tree) finishFolders() error {
	for i := len(t.m.Entries) - 1; i >= 0; i-- {
		e := &t.m.Entries[i]
		if e.Kind != proto.Dir {
			continue
		}
		if err := t.finishFolder(t.name(i), e); err != nil {
			return err
		}
	}
	if t.bulk() {
		// Where it cannot be done, a crash may lose modes and times, not bytes,
		// and Open sees that they are wrong.
		if done, err := t.syncAll(); done {
			return err
		}
	}
	if err := t.syncName("."); err != nil {
		return err
	}
	if parent, err := os.Open(filepath.Dir(t.path)); err == nil {
		defer parent.Close()
		return syncFolder(parent)
	}
	return nil // not ours to read
}

func (t *tree) finishFolder(name string, e *proto.Entry) error {
	f, err := t.root.Open(name)
	if err != nil {
		return t.explain(name, err)
	}
	defer f.Close()
	return t.stamp(f, name, e)
}

func (t *tree) syncName(name string) error {
	f, err := t.root.Open(name)
	if err != nil {
		return t.explain(name, err)
	}
	defer f.Close()
	return syncFolder(f)
}
