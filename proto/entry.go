package proto

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// EntryKind is the kind of an [Entry]. Kinds are only appended.
type EntryKind uint8

// The kinds of an [Entry].
const (
	// File is a regular file.
	File EntryKind = 1
	// Dir is a directory.
	Dir EntryKind = 2
	// Symlink is a symbolic link.
	Symlink EntryKind = 3
	// Pad is padding of a torrent (BEP 47): zeros in the stream of the content, but in
	// no file, so that the next file begins with a piece. It has only a Size.
	Pad EntryKind = 4
)

// MaxMode is the largest [Entry.Mode].
const MaxMode = 0o7777

// specialBits are setuid, setgid and sticky.
const specialBits = 0o7000

// NoMTime is the [Entry.MTime] of an entry without a time, as in torrents. A receiver does
// not set the time of such a file.
const NoMTime = math.MinInt64

// Entry is a file, directory or symbolic link of the content, or padding between its files.
// Every directory below the content's root has an entry, for its mode and because it may be empty.
type Entry struct {
	_ struct{} `cbor:",toarray"`
	// Path is slash-separated, relative to the content's root, and clean. It need not
	// be UTF-8. It is empty only for a single file and for padding.
	Path string
	Kind EntryKind
	// Size is the size of a file or of padding in bytes, 0 for other kinds.
	Size int64
	// Mode holds the permission bits, setuid (04000), setgid (02000) and sticky (01000), at
	// most [MaxMode].
	Mode uint32
	// MTime is the modification time in Unix nanoseconds, or [NoMTime].
	MTime int64
	// Target is the target of a symbolic link, relative to the link's directory and within
	// the content's root. It is empty for other kinds.
	Target string
}

// SafeMode returns the mode without the bits that change the rights of programs: of a directory, setgid
// and sticky stay.
func (e *Entry) SafeMode() uint32 {
	if e.Kind == Dir {
		return e.Mode &^ 0o4000
	}
	return e.Mode &^ specialBits
}

// drops reports whether SafeMode drops bits.
func (e *Entry) drops() bool { return e.SafeMode() != e.Mode }

// checkTree reports the first rule that an entry or all entries together break.
func checkTree(entries []Entry) error {
	if len(entries) == 1 && entries[0].Path == "" {
		if entries[0].Kind != File {
			return errors.New("manifest: the single entry without a path must be a file")
		}
		return entries[0].check()
	}
	for i := range entries {
		e := &entries[i]
		if e.Kind != Pad {
			if err := checkPath(e.Path); err != nil {
				return err
			}
		}
		if err := e.check(); err != nil {
			return err
		}
	}
	paths := sortPaths(entries)
	if err := paths.checkUnique(); err != nil {
		return err
	}
	parent := "" // the directory checked last, which is usually the next entry's too
	for i := range entries {
		e := &entries[i]
		if e.Kind == Pad {
			continue
		}
		if dir := parentOf(e.Path); dir != parent {
			if err := paths.checkParent(dir, i); err != nil {
				return err
			}
			parent = dir
		}
	}
	return nil
}

// check reports the first rule that the entry breaks, except for rules about its path.
func (e *Entry) check() error {
	switch {
	case e.Kind < File || e.Kind > Pad:
		return fmt.Errorf("manifest: path %q: unknown kind %d", e.Path, e.Kind)
	case e.Size < 0:
		return fmt.Errorf("manifest: path %q: negative size %d", e.Path, e.Size)
	case e.Kind == Pad && (*e != Entry{Kind: Pad, Size: e.Size}):
		return errors.New("manifest: padding has a size and nothing else")
	case e.Kind != File && e.Kind != Pad && e.Size != 0:
		return fmt.Errorf("manifest: path %q: only a file has a size", e.Path)
	case e.Mode > MaxMode:
		return fmt.Errorf("manifest: path %q: mode %#o, at most %#o", e.Path, e.Mode, MaxMode)
	case e.Kind != Symlink && e.Target != "":
		return fmt.Errorf("manifest: path %q: only a symlink has a target", e.Path)
	case e.Kind == Symlink:
		return checkTarget(e.Path, e.Target)
	}
	return nil
}

// parentOf returns the directory of path, "" for the content's root.
func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

func checkPath(path string) error {
	if path == "" {
		return errors.New("manifest: entry without a path")
	}
	if len(path) > MaxPath {
		return fmt.Errorf("manifest: path of %d bytes, at most %d", len(path), MaxPath)
	}
	if strings.IndexByte(path, 0) >= 0 {
		return fmt.Errorf("manifest: path %q has a NUL", path)
	}
	if path[0] == '/' {
		return fmt.Errorf("manifest: path %q is absolute", path)
	}
	for element := range strings.SplitSeq(path, "/") {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("manifest: path %q has the element %q", path, element)
		}
		if len(element) > MaxElement {
			return fmt.Errorf("manifest: path %q has an element of %d bytes, at most %d", path, len(element), MaxElement)
		}
	}
	return nil
}

// ErrLeadsOut reports a symlink whose target is, or may be, outside the content.
var ErrLeadsOut = errors.New("leads out of the content")

// CheckTarget reports why a symlink must not have its target.
func (e *Entry) CheckTarget() error { return checkTarget(e.Path, e.Target) }

// checkTarget reports why the symlink at path must not have this target.
//
// The directory of a symlink is not a symlink, so each leading ".." goes up one level. After a
// name it need not, because the name may be a symlink itself: "up/.." is outside the content
// if up is a symlink to the root. So ".." after a name is rejected.
func checkTarget(path, target string) error {
	if target == "" || len(target) > MaxPath {
		return fmt.Errorf("manifest: symlink %q: target of %d bytes, want 1 to %d", path, len(target), MaxPath)
	}
	if strings.IndexByte(target, 0) >= 0 {
		return fmt.Errorf("manifest: symlink %q: target %q has a NUL", path, target)
	}
	if target[0] == '/' {
		return fmt.Errorf("manifest: symlink %q %w: target %q is absolute", path, ErrLeadsOut, target)
	}
	depth, named := strings.Count(path, "/"), false
	for element := range strings.SplitSeq(target, "/") {
		switch {
		case element == "" || element == ".":
		case element != "..":
			named = true
		case named:
			return fmt.Errorf("manifest: symlink %q %w: target %q has \"..\" after a name", path, ErrLeadsOut, target)
		case depth == 0:
			return fmt.Errorf("manifest: symlink %q %w: target %q is outside", path, ErrLeadsOut, target)
		default:
			depth--
		}
	}
	return nil
}
