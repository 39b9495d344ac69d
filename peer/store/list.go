package store

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// list returns the entries of the file or directory at path, which is not a symbolic
// link, in the order of a manifest, and that of the directory itself if the manifest needs it.
func list(ctx context.Context, path string, opt *ScanOptions) (top *proto.Entry, entries []proto.Entry, err error) {
	info, err := opt.FS.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	e, err := newEntry("", info)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %w", path, err)
	}
	if !info.IsDir() {
		return nil, []proto.Entry{e}, nil
	}
	if e.Mode != usualDirMode {
		e.MTime = proto.NoMTime
		top = &e
	}
	if opt.FollowLinks {
		entries, err = follow(ctx, opt.FS, path, opt.Outside)
		return top, entries, err
	}
	root, err := opt.FS.OpenRoot(path)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	l := lister{ctx: ctx, root: root, path: path}
	if err := l.addDir(""); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(l.entries, func(a, b proto.Entry) int { return strings.Compare(a.Path, b.Path) })
	return top, l.entries, nil
}

// usualDirMode is the mode of a root that is left out of the manifest: older nodes understand none.
const usualDirMode = 0o755

// lister collects the entries below a directory.
type lister struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	root    vfs.Root
	path    string // of root
	entries []proto.Entry
}

// addDir adds what is below the directory with that path in the content, "" for the
// content itself. It keeps no descriptor open while it descends.
func (l *lister) addDir(path string) error {
	names, err := l.readNames(path)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(names, lookAhead) {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		for i, name := range part {
			part[i] = filepath.Join(filepath.FromSlash(path), name)
		}
		for i, info := range l.root.LstatAll(part) {
			if err := l.add(part[i], info); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds what has a name, and what is below it. The info is nil if it was not to be had.
func (l *lister) add(name string, info fs.FileInfo) error {
	e, err := l.entry(name, info)
	if err != nil {
		return err
	}
	l.entries = append(l.entries, e)
	if e.Kind != proto.Dir {
		return nil
	}
	return l.addDir(e.Path)
}

func (l *lister) readNames(path string) ([]string, error) {
	if path == "" {
		path = "."
	}
	f, err := l.root.OpenFile(filepath.FromSlash(path), os.O_RDONLY, 0)
	if err != nil {
		return nil, l.withPath(path, err)
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (l *lister) entry(name string, info fs.FileInfo) (proto.Entry, error) {
	path := filepath.ToSlash(name)
	if info == nil {
		var err error
		if info, err = l.root.Lstat(name); err != nil {
			return proto.Entry{}, l.withPath(path, err)
		}
	}
	e, err := newEntry(path, info)
	if err == nil && e.Kind == proto.Symlink {
		e.Target, err = l.root.Readlink(name)
		e.Target = filepath.ToSlash(e.Target)
	}
	if err != nil {
		return e, fmt.Errorf("%s %w", filepath.Join(l.path, name), err)
	}
	return e, nil
}

func (l *lister) withPath(path string, err error) error {
	t := tree{path: l.path}
	return t.withPath(filepath.FromSlash(path), err)
}

// newEntry returns the entry of what info describes. Its error follows a path.
func newEntry(path string, info fs.FileInfo) (proto.Entry, error) {
	e := proto.Entry{Path: path, Mode: bitsOf(info.Mode()), MTime: info.ModTime().UnixNano()}
	switch info.Mode().Type() {
	case 0:
		e.Kind, e.Size = proto.File, info.Size()
	case fs.ModeDir:
		e.Kind = proto.Dir
	case fs.ModeSymlink:
		// The mode and time of a link itself do not matter, and copies do not get
		// them.
		e.Kind, e.Mode, e.MTime = proto.Symlink, 0, 0
	default:
		return e, errNotShareable
	}
	return e, nil
}
