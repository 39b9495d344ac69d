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
// of the content may deny access to its owner. Permit changes nothing of a seed.
func (t *tree) permit(name string, try func() error) error {
	err := try()
	if !t.opt.ours || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	t.permitting.Lock()
	defer t.permitting.Unlock()
	var undo []func()
	if !t.single() {
		// By the directory above: with too few rights on the root, it has no name "." either.
		if parent, err := t.files.fs.OpenRoot(filepath.Dir(t.path)); err == nil {
			defer parent.Close()
			undo = append(undo, widen(parent, filepath.Base(t.path)))
		}
	}
	for i, c := range name + string(filepath.Separator) {
		if c == filepath.Separator && name[:i] != "." {
			undo = append(undo, widen(t.root, name[:i]))
		}
	}
	err = try()
	for _, restore := range slices.Backward(undo) {
		restore()
	}
	return err
}

// makeRootWritable makes the root writable until finishDirs.
func (t *tree) makeRootWritable() {
	if t.single() {
		return
	}
	if parent, err := t.files.fs.OpenRoot(filepath.Dir(t.path)); err == nil {
		defer parent.Close()
		_ = widen(parent, filepath.Base(t.path))
	}
}

// widen gives the owner access to what has a name in r, and returns a function that restores the mode.
func widen(r vfs.Root, name string) (restore func()) {
	was, err := r.Lstat(name)
	if err != nil {
		return func() {}
	}
	mode := was.Mode() & modeBits
	wide := mode
	switch s := vfs.StatOf(was); {
	case was.IsDir():
		wide |= transferDirMode
	case was.Mode().IsRegular() && s.Links <= 1:
		wide |= transferFileMode &^ 0o200
	}
	if wide == mode || r.Chmod(name, wide) != nil {
		return func() {}
	}
	return func() { _ = r.Chmod(name, mode) } // Publish or the next permit does
}
