package store

import (
	"cmp"
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
	path   string
	parent vfs.Root // nil if it cannot be opened, as a directory that may only be searched
	err    error    // why parent is nil
	in     directory
	name   string // of the content in that directory
}

// directory is the parent of a place, or the whole file system.
type directory interface {
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, perm fs.FileMode) error
	OpenRoot(name string) (vfs.Root, error)
	Remove(name string) error
}

// openPlace returns the place of a path. It fails with [fs.ErrNotExist] if the directory above does not exist.
func openPlace(fsys vfs.FS, path string) (*place, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	p := &place{path: path}
	parent, err := fsys.OpenRoot(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrPermission):
		p.err, p.in, p.name = err, fsys, path
		return p, nil
	case err != nil:
		return nil, err
	}
	p.parent, p.in, p.name = parent, parent, filepath.Base(path)
	if filepath.Dir(path) == path {
		p.name = "."
	}
	return p, nil
}

func (p *place) close() {
	if p.parent != nil {
		_ = p.parent.Close() // nothing was written to it
	}
}

func (p *place) lstat() (fs.FileInfo, error) {
	info, err := p.in.Lstat(p.name)
	return info, p.withPath(err)
}

// withPath puts the path into an error of a directory.
func (p *place) withPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: at.Op, Path: p.path, Err: at.Err}
	}
	return err
}

// create creates the content's directory, if it has one.
func (p *place) create(m *proto.Manifest) (err error) {
	mode := fs.FileMode(0o755) // of a source without Root
	if m.Root != nil {
		mode = transferDirMode // until Publish
	}
	if !isSingle(m) {
		err = p.withPath(p.in.Mkdir(p.name, mode))
	}
	if errors.Is(err, fs.ErrExist) { // by another program since checkFree
		err = cmp.Or(p.checkFree(m), err)
	}
	return cannotCreate(p.path, err)
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

// open opens the content's directory, or returns parent for a single file, which it then does not close.
func (p *place) open(single bool) (r vfs.Root, err error) {
	if single {
		r, p.parent = p.parent, nil
		return r, p.err
	}
	if r, err = p.in.OpenRoot(p.name); err != nil {
		if info, statErr := p.lstat(); statErr == nil && !info.IsDir() {
			return nil, &ChangedError{Path: p.path, Reason: "it is not a directory", Err: err}
		}
		return nil, p.withPath(err)
	}
	if p.parent != nil {
		return r, nil
	}
	info, err := r.Lstat(".")
	if err == nil && !p.leadsTo(info) {
		err = &ChangedError{Path: p.path, Reason: "it was replaced"}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// leadsTo reports whether the name is the name of the directory that info describes, and not a link to it.
func (p *place) leadsTo(info fs.FileInfo) bool {
	there, err := p.lstat()
	return err == nil && vfs.SameFile(info, there)
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
