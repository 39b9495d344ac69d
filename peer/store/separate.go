package store

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// separate replaces the file of an entry, which was describes, by a copy, if it has other names in the content or outside. The other
// names keep the original. It returns the inode number of the copy.
func (d writer) separate(entry int, was fs.FileInfo) (inode uint64, err error) {
	t, name := d.tree, d.tree.name(entry)
	temp := t.tempName(name)
	dir := filepath.Dir(name)
	err = permitCall(t, dir, func() error { return t.copyFile(temp, name) })
	now, _ := t.find(name)
	if err == nil && (now == nil || !vfs.SameFile(now, was)) {
		err = &ChangedError{Path: t.fullPath(name), Reason: "it was replaced"}
	}
	if err == nil {
		inode, err = d.recordInode(entry, temp, now)
		if err == nil {
			err = permitCall(t, dir, func() error { return t.root.Rename(temp, name) })
		}
		if err != nil {
			_, _ = d.recordInode(entry, name, now) // it may have been renamed
		}
	}
	t.names.note(dir)
	if err != nil {
		t.discard(temp)
		return 0, fmt.Errorf("copy %s, which has other names: %w", t.fullPath(name), withoutPath(err))
	}
	return inode, nil
}

// recordInode records that an entry is the file with a name, in the place of the file that was describes.
func (d writer) recordInode(entry int, name string, was fs.FileInfo) (uint64, error) {
	info, err := d.tree.lstat(name)
	born := d.tree.root.Born(name)
	if err != nil {
		return 0, err
	}
	inode := vfs.StatOf(info).Inode
	return inode, d.setRecord(entry, func(f *fileRecord) {
		f.foreign = f.changed(was)
		f.Stamp, f.Born, f.Final = journal.Stamp{Inode: inode}, born, false
	})
}

// tempPrefix is the prefix of the names of the copies of the content with that manifest.
func tempPrefix(manifest [32]byte) string { return ".mob-" + hex.EncodeToString(manifest[:8]) + "-" }

// tempName returns the name of the copy beside a file. Only copies of this content have it.
func (t *tree) tempName(name string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name) // never fails
	return filepath.Join(filepath.Dir(name), fmt.Sprintf("%s%016x", t.temp, h.Sum64()))
}

// copyFile copies a file to a new one, and waits until the copy is on the disk: pieces of
// the file may count as such.
func (t *tree) copyFile(to, from string) error {
	src, _, err := t.openRegular(from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer src.Close()
	// A crash may have left one.
	if err := t.root.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dst, err := t.root.OpenFile(to, createFlags, transferFileMode)
	if err != nil {
		return err
	}
	err = dst.CopyFrom(src)
	if err == nil {
		err = dst.Sync()
	}
	return errors.Join(err, dst.Close())
}
