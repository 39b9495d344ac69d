package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// place is the path of the content by the directory above it, which is open. The content is created, opened and removed by
// its name in that directory, and a link with that name is not followed, whenever it was put there.
type place struct {
	fs     vfs.FS
	path   string
	name   string
	parent vfs.Root // nil if it cannot be opened, as a directory that may only be searched: then the path is used
	err    error    // why parent is nil
}

// openPlace returns the place of an absolute path. It fails with [fs.ErrNotExist] if the directory above does not exist.
func openPlace(fsys vfs.FS, path string) (*place, error) {
	p := &place{fs: fsys, path: path, name: filepath.Base(path)}
	if filepath.Dir(path) == path {
		p.name = "."
	}
	p.parent, p.err = fsys.OpenRoot(filepath.Dir(path))
	if p.err != nil {
		p.parent = nil
	}
	if p.err != nil && !errors.Is(p.err, fs.ErrPermission) {
		return nil, p.err
	}
	return p, nil
}

func (p *place) close() {
	if p.parent != nil {
		_ = p.parent.Close() // nothing was written to it
	}
}

func (p *place) lstat() (fs.FileInfo, error) {
	if p.parent == nil {
		return p.fs.Lstat(p.path)
	}
	info, err := p.parent.Lstat(p.name)
	return info, p.withPath(err)
}

// withPath puts the path into an error of parent.
func (p *place) withPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: p.path, Err: at.Err}
	}
	return err
}

// create creates the content's directory, if it has one.
func (p *place) create(m *proto.Manifest) (err error) {
	mode := fs.FileMode(0o777)
	if m.Root != nil {
		mode = transferDirMode // until Publish
	}
	switch {
	case isSingle(m):
	case p.parent == nil:
		err = p.fs.Mkdir(p.path, mode)
	default:
		err = p.withPath(p.parent.Mkdir(p.name, mode))
	}
	if errors.Is(err, fs.ErrPermission) {
		return cannotCreate(p.path, err)
	}
	return err
}

// checkFree returns why the content cannot be created.
func (p *place) checkFree(m *proto.Manifest) error {
	info, err := p.lstat()
	if err == nil {
		return existsError(p.path, info, m)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// check fails if the path is not a file or directory as the content requires.
func (p *place) check(m *proto.Manifest) error {
	info, err := p.lstat()
	if err != nil {
		return err
	}
	if single := isSingle(m); single && !info.Mode().IsRegular() || !single && !info.IsDir() {
		return existsError(p.path, info, m)
	}
	return nil
}

// open opens the content's directory, or takes over parent for a single file.
func (p *place) open(single bool) (r vfs.Root, err error) {
	switch {
	case single && p.parent == nil:
		return nil, p.err
	case single:
		r, p.parent = p.parent, nil
		return r, nil
	case p.parent == nil:
		r, err = p.fs.OpenRoot(p.path)
	default:
		r, err = p.parent.OpenRoot(p.name)
	}
	if err != nil {
		if info, statErr := p.lstat(); statErr == nil && !info.IsDir() {
			return nil, &ChangedError{Path: p.path, Reason: "it is not a directory", Err: err}
		}
		return nil, p.withPath(err)
	}
	if p.parent == nil && !p.leadsTo(r) {
		return nil, errors.Join(&ChangedError{Path: p.path, Reason: "it was replaced"}, r.Close())
	}
	return r, nil
}

// leadsTo reports whether the name is the name of an open directory, and not a link to it.
func (p *place) leadsTo(r vfs.Root) bool {
	here, err := r.Lstat(".")
	if err != nil {
		return false
	}
	there, err := p.lstat()
	return err == nil && vfs.SameFile(here, there)
}

// remove removes the content's directory, which is empty.
func (p *place) remove() error {
	if p.parent == nil {
		return p.fs.Remove(p.path)
	}
	return p.withPath(p.parent.Remove(p.name))
}

// openFree is openPlace for content that does not exist yet.
func openFree(fsys vfs.FS, path string) (*place, error) {
	p, err := openPlace(fsys, path)
	above := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the directory %s does not exist: create it first", above)
	case err != nil && notThere(err):
		return nil, fmt.Errorf("%s is not a directory: choose another path", above)
	}
	return p, err
}
