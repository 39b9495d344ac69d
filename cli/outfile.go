package cli

import (
	"path/filepath"
	"strings"
)

// isFolderName reports whether a path names a folder, whatever exists there.
func isFolderName(path string) bool {
	last := filepath.Base(path)
	return strings.HasSuffix(path, "/") || last == "." || last == ".."
}
