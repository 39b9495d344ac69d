package store

import (
	"fmt"
	"slices"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// AliasError reports that two files of the content are one on the disk, because it does not
// tell their names apart, or shows a directory at two places.
type AliasError struct {
	// Path and Other are the two.
	Path, Other string
}

// Error names both.
func (e *AliasError) Error() string {
	return fmt.Sprintf("%s and %s are the same file here: choose a directory on another file system, "+
		"such as one that tells upper from lower case", e.Path, e.Other)
}

// fileKey64 returns a number that distinguishes files, with rare collisions.
func fileKey64(s vfs.Stat) uint64 { return s.Inode ^ s.Device<<48 ^ s.Device>>16 }

// findAliases returns an [*AliasError] if two files of the content are one. The keys are
// those of the files that are there; it sorts them.
func (t *tree) findAliases(keys []uint64) error {
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			return t.nameAliases(keys[i])
		}
	}
	return nil
}

// nameAliases returns an [*AliasError] if two files of the content with that key are one.
func (t *tree) nameAliases(key uint64) error {
	var first vfs.Stat
	name := ""
	for file := range t.layout.files() {
		if t.layout.pad(file) {
			continue
		}
		info, err := t.stat(file)
		if err != nil || info == nil {
			continue
		}
		switch s := vfs.StatOf(info); {
		case s.Links > 1 || fileKey64(s) != key:
		case name == "":
			first, name = s, t.fileName(file)
		case s.Device == first.Device && s.Inode == first.Inode:
			return &AliasError{Path: t.fullPath(name), Other: t.fullPath(t.fileName(file))}
		}
	}
	return nil
}
