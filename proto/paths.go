package proto

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// paths finds the entries of a manifest by their paths. Padding has none.
type paths struct {
	entries []Entry
	// order is where the entries are, by path; nil when they are sorted, as those of
	// all but torrents are, and none is there twice.
	order []int32
}

func sortPaths(entries []Entry) paths {
	if sorted(entries) {
		return paths{entries: entries}
	}
	order := make([]int32, 0, len(entries))
	for i := range entries {
		if entries[i].Kind != Pad {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(entries[a].Path, entries[b].Path) })
	return paths{entries, order}
}

// sorted reports whether all entries have paths, in order, and each only once.
func sorted(entries []Entry) bool {
	before := "" // less than any path
	for i := range entries {
		if entries[i].Path <= before {
			return false
		}
		before = entries[i].Path
	}
	return true
}

// len is how many paths there are.
func (p paths) len() int {
	if p.order != nil {
		return len(p.order)
	}
	return len(p.entries)
}

// at is the place in the manifest of the entry with the k-th path.
func (p paths) at(k int) int {
	if p.order != nil {
		return int(p.order[k])
	}
	return k
}

func (p paths) path(k int) string { return p.entries[p.at(k)].Path }

// checkOnce reports a path that is there twice.
func (p paths) checkOnce() error {
	for k := 1; k < len(p.order); k++ {
		if p.path(k-1) == p.path(k) {
			return fmt.Errorf("manifest: path %q is there twice", p.path(k))
		}
	}
	return nil
}

// checkFolder reports why dir cannot hold entry i. It has to come before i, so that
// one pass makes a tree, and one from the end finishes it.
func (p paths) checkFolder(dir string, i int) error {
	if dir == "" {
		return nil
	}
	path := p.entries[i].Path
	k := sort.Search(p.len(), func(k int) bool { return p.path(k) >= dir })
	if k == p.len() || p.path(k) != dir {
		return fmt.Errorf("manifest: path %q: its folder %q is not listed", path, dir)
	}
	at := p.at(k)
	switch p.entries[at].Kind {
	case Dir:
	case Symlink:
		return fmt.Errorf("manifest: path %q lies behind the symlink %q", path, dir)
	default:
		return fmt.Errorf("manifest: path %q lies below the file %q", path, dir)
	}
	if at > i {
		return fmt.Errorf("manifest: path %q comes before its folder", path)
	}
	return nil
}
