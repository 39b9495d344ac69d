package store

import (
	"cmp"
	"fmt"
	"slices"

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

// fileID is the ID of a file.
type fileID struct {
	vfs.ID
	file int
}

// findAliases returns an [*AliasError] if two files of the content are one, of those that exist and have one name.
func (t *tree) findAliases(ids []fileID) error {
	slices.SortFunc(ids, func(a, b fileID) int { return cmp.Or(cmp.Compare(a.Inode, b.Inode), cmp.Compare(a.Device, b.Device)) })
	for i := 1; i < len(ids); i++ {
		if a, b := ids[i-1], ids[i]; a.ID == b.ID {
			return &AliasError{Path: t.fullPath(t.name(min(a.file, b.file))), Other: t.fullPath(t.name(max(a.file, b.file)))}
		}
	}
	return nil
}
