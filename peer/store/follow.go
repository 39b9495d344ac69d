package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// follower lists a directory and what its symbolic links lead to. A link within the directory stays
// a link. The target of any other link becomes part of the content at the path of the first of them, in the
// order of names, and the next ones become links to that. So everything is there once, and a
// directory that leads back to itself ends.
type follower struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	fs      vfs.FS
	root    string // without links
	outside func(path string) error
	entries []proto.Entry
	taken   map[vfs.ID]string // path in the content of each file and directory outside
}

// follow returns the entries below root, as list does.
func follow(ctx context.Context, fsys vfs.FS, root string, outside func(path string) error) ([]proto.Entry, error) {
	f := follower{ctx: ctx, fs: fsys, root: root, outside: outside, taken: make(map[vfs.ID]string)}
	if f.outside == nil {
		f.outside = func(string) error { return nil }
	}
	if err := f.addDir("", root); err != nil {
		return nil, err
	}
	slices.SortFunc(f.entries, func(a, b proto.Entry) int { return strings.Compare(a.Path, b.Path) })
	return f.entries, nil
}

// addDir adds what is in a directory, which has a path in the content.
func (f *follower) addDir(path, dir string) error {
	names, err := f.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		at := filepath.Join(dir, name)
		info, err := f.fs.Lstat(at)
		if err != nil {
			return err
		}
		if name = filepath.Join(path, name); info.Mode().Type() == fs.ModeSymlink {
			err = f.addLink(name, dir, at)
		} else {
			err = f.add(name, at, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// names returns the sorted names in a directory.
func (f *follower) names(dir string) ([]string, error) {
	d, err := f.fs.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// add adds a file or a directory with what is in it, which has a path in the content.
func (f *follower) add(path, at string, info fs.FileInfo) error {
	if id := vfs.IDOf(info); !isBelow(at, f.root) && id.Inode != 0 {
		if first, ok := f.taken[id]; ok {
			return f.link(path, first)
		}
		f.taken[id] = path
	}
	e, err := newEntry(filepath.ToSlash(path), info)
	if err != nil {
		return fmt.Errorf("%s %w", at, err)
	}
	f.entries = append(f.entries, e)
	if e.Kind == proto.Dir {
		return f.addDir(path, at)
	}
	return nil
}

// addLink adds what the symbolic link at a path leads to. It is in dir.
func (f *follower) addLink(path, dir, at string) error {
	r, err := f.fs.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	written, err := r.Readlink(filepath.Base(at))
	if err != nil {
		return err
	}
	e := proto.Entry{Path: filepath.ToSlash(path), Kind: proto.Symlink, Target: filepath.ToSlash(written)}
	inside := isBelow(at, f.root) && e.CheckTarget() == nil
	target, err := f.fs.Resolve(at)
	switch {
	case err != nil && inside:
		f.entries = append(f.entries, e) // it leads nowhere, in any copy
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s leads to %s, which does not exist", at, written)
	case err != nil:
		return fmt.Errorf("%s leads to %s: %w", at, written, withoutPath(err))
	case isBelow(target, f.root) && inside:
		f.entries = append(f.entries, e)
		return nil
	case isBelow(target, f.root):
		to, err := filepath.Rel(f.root, target)
		if err != nil {
			return err
		}
		return f.link(path, to)
	case isBelow(f.root, target):
		return fmt.Errorf("%s leads to %s, which has it in it", at, target)
	}
	info, err := f.fs.Lstat(target)
	if err == nil {
		err = f.outside(target)
	}
	if err != nil {
		return fmt.Errorf("%s leads to %s: %w", at, target, err)
	}
	return f.add(path, target, info)
}

// link adds a symbolic link from a path in the content to another.
func (f *follower) link(path, to string) error {
	target, err := filepath.Rel(filepath.Dir("/"+path), "/"+to)
	if err != nil {
		return err
	}
	f.entries = append(f.entries, proto.Entry{Path: filepath.ToSlash(path), Kind: proto.Symlink, Target: filepath.ToSlash(target)})
	return nil
}

// isBelow reports whether a path is dir or below it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
