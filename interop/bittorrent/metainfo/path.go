package metainfo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mobgrid/mob/proto"
)

// checkElement reports why an element of a path is none that may be made.
func checkElement(e []byte) error {
	switch {
	case len(e) == 0:
		return errors.New("a path has an empty element")
	case len(e) > proto.MaxElement:
		return fmt.Errorf("a path has an element of %d bytes, at most %d", len(e), proto.MaxElement)
	case !utf8.Valid(e):
		return fmt.Errorf("the path element %q is not UTF-8", e)
	case string(e) == ".", string(e) == "..", bytes.IndexByte(e, '/') >= 0, bytes.IndexByte(e, 0) >= 0:
		return fmt.Errorf("the path element %q leads elsewhere", e)
	}
	return nil
}

// checkName reports why a name cannot be that of a content: those of manifests
// have the same rules.
func checkName(name string) error {
	if name == "" {
		return errors.New("it has no name")
	}
	if err := checkElement([]byte(name)); err != nil {
		return fmt.Errorf("its name: %w", err)
	}
	if strings.IndexFunc(name, unicode.IsControl) >= 0 {
		return fmt.Errorf("its name %q has a control character", name)
	}
	return nil
}

// sortPaths sorts so that what is below a path follows it at once.
func sortPaths(paths []string) {
	slices.SortFunc(paths, func(a, b string) int {
		n := min(len(a), len(b))
		for i := range n {
			if a[i] == b[i] {
				continue
			}
			if a[i] == '/' {
				return -1
			}
			if b[i] == '/' {
				return 1
			}
			return cmp.Compare(a[i], b[i])
		}
		return cmp.Compare(len(a), len(b))
	})
}
