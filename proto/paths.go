package proto

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// paths is an index of the entries of a manifest by path. Padding has no path.
type paths struct {
	entries []Entry
	// order lists indexes of entries in the order of their paths. It is nil if the
	// entries are sorted and unique already, as they are in all but torrents.
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

// sorted reports whether all entries have paths, which are unique and in ascending order.
func sorted(entries []Entry) bool {
	last := "" // less than any path
	for i := range entries {
		if entries[i].Path <= last {
			return false
		}
		last = entries[i].Path
	}
	return true
}

// len returns the number of paths.
func (p paths) len() int {
	if p.order != nil {
		return len(p.order)
	}
	return len(p.entries)
}

// at returns the index of the entry with the k-th path.
func (p paths) at(k int) int {
	if p.order != nil {
		return int(p.order[k])
	}
	return k
}

func (p paths) path(k int) string { return p.entries[p.at(k)].Path }

// checkUnique reports a duplicate path.
func (p paths) checkUnique() error {
	for k := 1; k < len(p.order); k++ {
		if p.path(k-1) == p.path(k) {
			return fmt.Errorf("manifest: duplicate path %q", p.path(k))
		}
	}
	return nil
}

// checkFolder reports why dir cannot be the folder of entry i. It must come before i, so
// that a receiver creates the tree in one pass.
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
