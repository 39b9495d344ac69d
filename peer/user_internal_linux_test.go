package peer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// TestPathForHidesNames names paths below a directory that a user may not enter. The error does not depend on the files there.
func TestPathForHidesNames(t *testing.T) {
	dir, r := t.TempDir(), &registry{data: t.TempDir()} // the first one is below a directory of mode 0700
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "dir"), 0o755), os.Symlink("elsewhere", filepath.Join(dir, "link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dir", "dir/x", "dir/x/y", "none", "none/x", "none/x/y", "link", "link/x", "link/x/y"} {
		path := filepath.Join(dir, name)
		_, err := r.pathFor(&vfs.User{UID: uint32(os.Geteuid()) + 1}, path)
		if want := "open " + filepath.Dir(path) + ": permission denied"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
