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

	"github.com/mobgrid/mob/peer/store/vfs"
)

// separate replaces the file of an entry by a copy, if it has other names in the content or outside. The other names
// keep the original.
func (t *tree) separate(entry int) error {
	name := t.name(entry)
	temp := t.tempName(name)
	err := t.copyFile(temp, name)
	if errors.Is(err, fs.ErrPermission) {
		t.makeDirsWritable(name)
		err = t.copyFile(temp, name)
	}
	if err == nil {
		err = t.recordInode(entry, temp)
	}
	if err == nil {
		err = t.root.Rename(temp, name)
	}
	t.noteName(name)
	if err != nil {
		_ = t.recordInode(entry, name) // it may have been renamed
		_ = t.root.Remove(temp)        // or the next try does
		return fmt.Errorf("copy %s, which has other names: %w", t.fullPath(name), withoutPath(err))
	}
	return nil
}

// recordInode records that an entry is the file with a name.
func (t *tree) recordInode(entry int, name string) error {
	info, err := t.root.Lstat(name)
	if err != nil {
		return err
	}
	return t.owner.recordInode(entry, vfs.StatOf(info).Inode)
}

// tempPrefix begins the names of the copies of the content with that manifest.
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
	dst, err := t.root.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, transferFileMode)
	if err != nil {
		return err
	}
	err = dst.CopyFrom(src)
	if err == nil {
		err = dst.Sync()
	}
	return errors.Join(err, dst.Close())
}
