package metadata

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mobgrid/mob/proto"
)

// A Selection chooses files, links and empty directories of a directory by globs of their paths in the content. A glob has
// the syntax of [path.Match] for each element of a path, and ** for any number of elements. It matches everything
// below a directory that it matches. The zero Selection chooses all.
type Selection struct {
	// Include chooses what one of its globs matches, all if it is empty. Exclude takes precedence.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// All reports whether the selection has no globs.
func (s Selection) All() bool { return len(s.Include)+len(s.Exclude) == 0 }

// Equal reports whether two selections have the same globs.
func (s Selection) Equal(other Selection) bool {
	return slices.Equal(s.Include, other.Include) && slices.Equal(s.Exclude, other.Exclude)
}

// Check returns an error if a glob is invalid.
func (s Selection) Check() error {
	for _, glob := range slices.Concat(s.Include, s.Exclude) {
		for _, element := range elements(glob) {
			if _, err := path.Match(element, ""); err != nil || element == "" {
				return fmt.Errorf("invalid glob %q of --include or --exclude", glob)
			}
		}
	}
	return nil
}

func (s Selection) has(name string) bool {
	matches := func(glob string) bool { return matchesGlob(elements(glob), elements(name)) }
	return (len(s.Include) == 0 || slices.ContainsFunc(s.Include, matches)) && !slices.ContainsFunc(s.Exclude, matches)
}

func elements(name string) []string { return strings.Split(strings.Trim(name, "/"), "/") }

// matchesGlob reports whether a glob matches a path, or a directory above it.
func matchesGlob(glob, name []string) bool {
	g, n := 0, 0
	again, from := -1, 0 // the glob after the last **, and the first element that it is compared with
	for g < len(glob) {
		match := false
		if n < len(name) {
			match, _ = path.Match(glob[g], name[n]) // Check has found invalid globs
		}
		switch {
		case glob[g] == "**":
			g++
			again, from = g, n
		case match:
			g, n = g+1, n+1
		case again >= 0 && from < len(name):
			from++
			g, n = again, from
		default:
			return false
		}
	}
	return true
}

// Selections choose what at least one of them chooses. An empty list chooses all.
type Selections []Selection

// Add returns selections that choose what s or more chooses.
func (s Selections) Add(more Selections) Selections {
	switch {
	case len(s) == 0 || len(more) == 0:
		return nil
	case slices.ContainsFunc(s, more[0].Equal):
		return s
	}
	return slices.Concat(s, more)
}

var (
	errSingleFile = errors.New("--include and --exclude are for directories, and the content is a single file")
	errNoMatch    = errors.New("no file of the content matches --include and --exclude: `mob inspect` lists the files")
)

// Of returns m without what is not selected. It fails if no file is.
func (s Selections) Of(m *proto.Manifest) (*proto.Manifest, error) {
	if len(s) == 0 {
		return m, nil
	}
	if len(m.Entries) == 1 && m.Entries[0].Path == "" {
		return nil, errSingleFile
	}
	files, kept := 0, make(map[string]bool) // paths, and the directories above them
	for _, e := range m.Entries {
		if e.Kind == proto.Pad || !slices.ContainsFunc(s, func(one Selection) bool { return one.has(e.Path) }) {
			continue
		}
		if e.Kind == proto.File {
			files++
		}
		for name := e.Path; name != "." && !kept[name]; name = path.Dir(name) {
			kept[name] = true
		}
	}
	if files == 0 {
		return nil, errNoMatch
	}
	return m.Partial(func(i int) bool { return m.Entries[i].Kind != proto.Pad && !kept[m.Entries[i].Path] }), nil
}

// LeftOut counts what a transfer does not fetch. Its JSON is an interface for scripts.
type LeftOut struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"` // in these files
	// Pieces counts the pieces without a byte of a selected file, and PieceBytes their bytes.
	Pieces     int   `json:"pieces"`
	PieceBytes int64 `json:"piece_bytes"`
}

// LeftOutOf counts what a part of m does not have.
func LeftOutOf(part, m *proto.Manifest) (l LeftOut) {
	for i, e := range m.Entries {
		if e.Kind == proto.File && part.LeavesOut(i) {
			l.Files++
			l.Bytes += e.Size
		}
	}
	for _, piece := range part.LeftOutPieces() {
		l.Pieces++
		l.PieceBytes += int64(m.PieceSize(piece))
	}
	return l
}
