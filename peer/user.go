package peer

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
)

var errReuse = errors.New("only the owner of the daemon may reuse existing files: choose another path")

// userFiles limits the open files of a transfer of another user.
const userFiles = 64

// User returns the user who started the transfer, nil for the owner of the node.
func (t *Transfer) User() *vfs.User { return t.state().rec.User }

// For reports whether a user may see and change the transfer: the user who started it, and
// the owner of the node, nil.
func (t *Transfer) For(u *vfs.User) bool {
	began := t.User()
	return u == nil || began != nil && began.UID == u.UID
}

// files returns how the transfer opens its files with a record.
func (t *Transfer) files(r metadata.Record) *store.Files {
	if r.User == nil && !r.FollowLinks {
		return t.node.files
	}
	var fsys vfs.FS = vfs.OS{}
	if r.User != nil {
		made := r.Root
		if r.Seed {
			made = ""
		}
		fsys = vfs.As(r.User, made)
	}
	if r.FollowLinks {
		fsys = vfs.Follow(fsys)
	}
	files := store.NewFilesFor(fsys, userFiles)
	files.SetUmask(t.node.cfg.Umask)
	return files
}

// pathFor returns the path without symbolic links, unless the user is the owner of the node. It fails if the user cannot
// reach it, if it overlaps the data directory, and if it is not valid UTF-8, which records cannot contain.
func (r *registry) pathFor(u *vfs.User, root string) (string, error) {
	if !utf8.ValidString(root) {
		return "", fmt.Errorf("%q is not valid UTF-8: choose another path, or rename what is not", root)
	}
	if u == nil {
		return root, nil
	}
	if _, err := r.place(root); err != nil {
		return "", err
	}
	dir, err := vfs.PlaceFor(u, filepath.Dir(root))
	if err != nil {
		return "", err
	}
	root = filepath.Join(dir.Path, filepath.Base(root))
	if _, err := vfs.As(u, "").Lstat(root); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return root, nil
}
