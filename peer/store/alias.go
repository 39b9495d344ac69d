package store

import (
	"fmt"
	"io/fs"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// AliasError reports that two files of the content are one on the disk, because it does not
// distinguish their names, or shows a directory at two places.
type AliasError struct {
	// Path and Other are the two.
	Path, Other string
}

// Error names both.
func (e *AliasError) Error() string {
	return fmt.Sprintf("%s and %s are the same file here: choose a directory on another file system, "+
		"such as one that tells upper from lower case", e.Path, e.Other)
}

// aliasError returns an [*AliasError] about two entries.
func (t *tree) aliasError(entry, other int) error {
	return &AliasError{Path: t.fullPath(t.name(entry)), Other: t.fullPath(t.name(other))}
}

// findAlias returns an [*AliasError] if what has the name of an entry, of which info is, and was not there
// when the store was opened, is a file that the store has created at another name.
func (d writer) findAlias(entry int, info fs.FileInfo) error {
	inode := vfs.StatOf(info).Inode
	for _, other := range d.files.all(func(f *fileRecord) bool { return f.Owns(inode) }) {
		there, err := d.tree.stat(other)
		if other != entry && err == nil && there != nil && vfs.SameFile(info, there) {
			return d.tree.aliasError(other, entry)
		}
	}
	return nil
}
