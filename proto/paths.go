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
	order   []int32 // indexes of entries, in the order of their paths
}

func sortPaths(entries []Entry) paths {
	order := make([]int32, 0, len(entries))
	for i := range entries {
		if entries[i].Kind != Pad {
			order = append(order, int32(i))
		}
	}
	compare := func(a, b int32) int { return strings.Compare(entries[a].Path, entries[b].Path) }
	if !slices.IsSortedFunc(order, compare) { // only torrents are not sorted
		slices.SortFunc(order, compare)
	}
	return paths{entries, order}
}

func (p paths) path(k int) string { return p.entries[p.order[k]].Path }

func (p paths) checkUnique() error {
	for k := 1; k < len(p.order); k++ {
		if p.path(k-1) == p.path(k) {
			return fmt.Errorf("manifest: duplicate path %q", p.path(k))
		}
	}
	return nil
}

// checkParent reports why dir cannot be the directory of entry i. It must come before i, so
// that a receiver creates the tree in one pass.
func (p paths) checkParent(dir string, i int) error {
	if dir == "" {
		return nil
	}
	path := p.entries[i].Path
	k := sort.Search(len(p.order), func(k int) bool { return p.path(k) >= dir })
	if k == len(p.order) || p.path(k) != dir {
		return fmt.Errorf("manifest: path %q: its directory %q is not listed", path, dir)
	}
	at := int(p.order[k])
	switch p.entries[at].Kind {
	case Dir:
	case Symlink:
		return fmt.Errorf("manifest: path %q lies behind the symlink %q", path, dir)
	default:
		return fmt.Errorf("manifest: path %q lies below the file %q", path, dir)
	}
	if at > i {
		return fmt.Errorf("manifest: path %q comes before its directory", path)
	}
	return nil
}
