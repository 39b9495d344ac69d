package store

import (
	"io/fs"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// createLinks creates the symbolic links. It runs after all content is written, so that
// no link is in the way of a write.
func (d *Disk) createLinks() error {
	for i := range d.m.Entries {
		if d.m.Entries[i].Kind != proto.Symlink {
			continue
		}
		if err := d.createLink(i); err != nil {
			return err
		}
	}
	return nil
}

// createLink creates a symbolic link, in the place of one to another target that it created or took over.
func (d *Disk) createLink(entry int) error {
	t, name, target := d.tree, d.tree.name(entry), filepath.FromSlash(d.m.Entries[entry].Target)
	info, err := t.root.Lstat(name)
	if err == nil {
		isLink := info.Mode().Type() == fs.ModeSymlink
		if old, err := t.root.Readlink(name); isLink && err == nil && old == target {
			return nil
		}
		if !isLink || vfs.StatOf(info).Inode != d.entry(entry).Inode {
			return d.foreign(name)
		}
		if err := t.root.Remove(name); err != nil {
			return t.withPath(name, err)
		}
	}
	if err := t.root.Symlink(target, name); err != nil {
		return err
	}
	if info, err = t.root.Lstat(name); err != nil {
		return t.withPath(name, err)
	}
	return d.madeEntry(entry, info)
}
