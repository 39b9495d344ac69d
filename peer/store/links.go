package store

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/mobgrid/mob/proto"
)

// createLinks creates the symbolic links. It runs after all content is written, so that
// no link is in the way of a write.
func (t *tree) createLinks() error {
	for i := range t.m.Entries {
		e := &t.m.Entries[i]
		if e.Kind != proto.Symlink {
			continue
		}
		if err := t.createLink(t.name(i), filepath.FromSlash(e.Target)); err != nil {
			return err
		}
	}
	return nil
}

// createLink creates a symbolic link, in the place of one to another target.
func (t *tree) createLink(name, target string) error {
	info, err := t.root.Lstat(name)
	if err == nil && info.Mode().Type() != fs.ModeSymlink {
		return fmt.Errorf("%s is in the way of a symbolic link: remove it", t.fullPath(name))
	}
	if err == nil {
		if old, err := t.root.Readlink(name); err == nil && old == target {
			return nil
		}
		if err := t.root.Remove(name); err != nil {
			return t.withPath(name, err)
		}
	}
	return t.root.Symlink(target, name)
}
