package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// followLink adds what a symbolic link leads to, with [ScanOptions.FollowLinks]. A link within the
// directory stays a link. The target of any other link becomes part of the content at the path of the
// first of them, in the order of names, and the next ones become links to that. So every file is taken
// once, and a directory that leads back to itself ends.
func (w *walker) followLink(p *part, name string) error {
	path, at := p.within(name), p.at(name)
	written, err := p.root.Readlink(name)
	if err != nil {
		return p.withPath(name, err)
	}
	e := proto.Entry{Path: path, Kind: proto.Symlink, Target: filepath.ToSlash(written)}
	inside := p.path == "" && e.CheckTarget() == nil
	target, err := w.opt.FS.Resolve(at)
	switch {
	case inside && (err != nil || isBelow(target, w.root)):
		w.addLink(path, e.Target) // as it is, even if it leads nowhere
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s leads to %s, which does not exist", at, written)
	case err != nil:
		return fmt.Errorf("%s leads to %s: %w", at, written, withoutPath(err))
	case isBelow(target, w.root):
		to, err := filepath.Rel(w.root, target)
		if err != nil {
			return err
		}
		return w.linkTo(path, to)
	case isBelow(w.root, target):
		return fmt.Errorf("%s leads to %s, which has it in it", at, target)
	}
	info, err := w.opt.FS.Lstat(target)
	if err == nil && w.opt.Outside != nil {
		err = w.opt.Outside(target)
	}
	if err != nil {
		return fmt.Errorf("%s leads to %s: %w", at, target, err)
	}
	return w.addOutside(path, target, info, func() error { return w.addPart(target, path) })
}

// addOutside is add for a file or directory outside.
func (w *walker) addOutside(path, at string, info fs.FileInfo, enter func() error) error {
	if id := vfs.IDOf(info); id.Inode != 0 {
		if first, ok := w.taken[id]; ok {
			return w.linkTo(path, first)
		}
		w.taken[id] = path
	}
	return w.add(path, at, info, enter)
}

// linkTo adds a symbolic link from a path in the content to another.
func (w *walker) linkTo(path, to string) error {
	target, err := filepath.Rel(filepath.Dir("/"+path), "/"+to)
	w.addLink(path, filepath.ToSlash(target))
	return err
}

// isBelow reports whether a path is dir or below it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
