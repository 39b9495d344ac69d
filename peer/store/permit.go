package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// permit calls try, and once more if permission is denied: then the owner gets access to what
// has the name and to the directories above it, and the modes are put back afterwards. The modes
// of the content may deny access to its owner. It leaves the modes of a seed. Try must not use permit.
func permit[T any](t *tree, name string, try func() (T, error)) (T, error) {
	v, err := try()
	if !t.opt.ours || !errors.Is(err, fs.ErrPermission) {
		return v, err
	}
	t.permitting.Lock()
	defer t.permitting.Unlock()
	restore := t.widenTo(name)
	defer func() {
		for _, f := range slices.Backward(restore) {
			f()
		}
	}()
	return try()
}

// permitCall is permit for a call without a result.
func permitCall(t *tree, name string, try func() error) error {
	_, err := permit(t, name, func() (struct{}, error) { return struct{}{}, try() })
	return err
}

// discard removes what the store has just created, where it can.
func (t *tree) discard(name string) {
	_ = permitCall(t, filepath.Dir(name), func() error { return t.root.Remove(name) })
}

// widenTo widens the modes of what has a name and of the directories above it. It returns functions that restore them.
func (t *tree) widenTo(name string) (restore []func()) {
	if !t.single() {
		restore = append(restore, t.widen("."))
	}
	for i, c := range name + string(filepath.Separator) {
		if c == filepath.Separator && name[:i] != "." {
			restore = append(restore, t.widen(name[:i]))
		}
	}
	return restore
}

// widen gives the owner access to what has a name, and returns a function that restores the mode.
func (t *tree) widen(name string) (restore func()) {
	restore = func() {}
	t.byParent(name, func(r vfs.Root, base string) {
		was, err := r.Lstat(base)
		if err != nil {
			return
		}
		mode := was.Mode() & modeBits
		wide := mode
		switch s := vfs.StatOf(was); {
		case was.IsDir():
			wide |= transferDirMode
		case was.Mode().IsRegular() && s.Links <= 1:
			wide |= transferFileMode
		}
		if wide != mode && r.Chmod(base, wide) == nil {
			// If this fails, Publish or the next permit does it.
			restore = func() { t.byParent(name, func(r vfs.Root, base string) { _ = r.Chmod(base, mode) }) }
		}
	})
	return restore
}

// byParent calls do with a directory and a name in it. The root has no name "." with too few rights on it, but its directory
// may be one that cannot be opened.
func (t *tree) byParent(name string, do func(r vfs.Root, name string)) {
	if name == "." {
		if parent, err := t.files.fs.OpenRoot(filepath.Dir(t.path)); err == nil {
			defer parent.Close()
			do(parent, filepath.Base(t.path))
			return
		}
	}
	if t.root != nil {
		do(t.root, name)
	}
}
