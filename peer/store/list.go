package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// listing is the result of a walk.
type listing struct {
	root    string          // path of the file or directory, without symbolic links
	top     *proto.Entry    // of the directory itself, if the manifest needs it
	entries []proto.Entry   // in the order of a manifest
	closed  map[string]bool // paths in the content of what may not be read, which is not in entries
}

// ClosedError is returned by [Scan] if files or directories may not be read.
type ClosedError struct {
	// Paths lists the first of them, and More counts the remaining ones.
	Paths []string
	More  int
}

// maxClosed bounds the paths in a [ClosedError].
const maxClosed = 20

// Error names the paths.
func (e *ClosedError) Error() string {
	text := strings.Join(e.Paths, ", ")
	if e.More > 0 {
		text += fmt.Sprintf(" and %d more", e.More)
	}
	return "cannot read " + text + ": permission denied"
}

// Unwrap returns the cause.
func (e *ClosedError) Unwrap() error { return fs.ErrPermission }

// list lists the file or directory at path, which is not a symbolic link. The listing is made again if closed is not nil: it
// leaves out these paths without a look.
func list(ctx context.Context, path string, opt *ScanOptions, closed map[string]bool) (*listing, error) {
	w := walker{ctx: ctx, opt: opt, listing: listing{root: path, closed: make(map[string]bool)}, leave: closed, taken: make(map[vfs.ID]string)}
	return w.walk()
}

// skip calls f with the paths that were left out. It fails if there are some and f is nil.
func (l *listing) skip(f func(path string)) error {
	paths := slices.Sorted(maps.Keys(l.closed))
	if f == nil && len(paths) > 0 {
		e := &ClosedError{More: max(0, len(paths)-maxClosed)}
		for _, path := range paths[:len(paths)-e.More] {
			e.Paths = append(e.Paths, filepath.Join(l.root, filepath.FromSlash(path)))
		}
		return e
	}
	for _, path := range paths {
		f(path)
	}
	return nil
}

// check lists the content again, and returns a [*ChangedError] about what differs.
func (l *listing) check(ctx context.Context, opt *ScanOptions) error {
	now, err := list(ctx, l.root, opt, l.closed)
	if err != nil {
		return asRemoved(err)
	}
	if path, reason := l.difference(now); reason != "" {
		return &ChangedError{Path: filepath.Join(l.root, filepath.FromSlash(path)), Reason: reason + "; try again"}
	}
	return nil
}

// asRemoved turns an error about a path that no longer exists into a [*ChangedError].
func asRemoved(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return &ChangedError{Path: at.Path, Reason: "it was removed; try again", Err: err}
	}
	return err
}

// difference returns the path of an entry that differs in two listings, and how. The time of a
// directory comes last: a change in the directory is the better reason.
func (l *listing) difference(now *listing) (path, reason string) {
	if (l.top == nil) != (now.top == nil) || l.top != nil && l.top.Mode != now.top.Mode {
		return "", "its mode changed"
	}
	var dir *proto.Entry
	was, is := l.entries, now.entries
	for i := range max(len(was), len(is)) {
		switch {
		case i == len(is), i < len(was) && was[i].Path < is[i].Path:
			return was[i].Path, "it was removed"
		case i == len(was), is[i].Path < was[i].Path:
			return is[i].Path, "it is new"
		}
		a, b := &was[i], &is[i]
		switch {
		case a.Kind != b.Kind:
			return a.Path, "it was replaced"
		case a.Target != b.Target:
			return a.Path, "it leads to another path"
		case a.Mode != b.Mode:
			return a.Path, "its mode changed"
		case a.Kind == proto.Dir && a.MTime != b.MTime:
			dir = a
		case a.Size != b.Size || a.MTime != b.MTime:
			return a.Path, "its size or modification time changed"
		}
	}
	if dir != nil {
		return dir.Path, "its modification time changed"
	}
	return "", ""
}

// usualDirMode is the mode of a root that is left out of the manifest: older nodes understand none.
const usualDirMode = 0o755

// walker collects entries.
type walker struct {
	ctx context.Context //nolint:containedctx // lives as long as one call
	opt *ScanOptions
	listing
	leave map[string]bool   // what an earlier walk left out; nil in the first
	taken map[vfs.ID]string // with FollowLinks: path in the content of each file and directory outside
}

// part is a directory that a walk lists with everything below it: the content's own, or one outside.
type part struct {
	root vfs.Root
	dir  string // path of root
	path string // of root in the content, empty for the content's own
}

// within returns the path in the content of what has a name in the part.
func (p *part) within(name string) string {
	if p.path == "" {
		return filepath.ToSlash(name)
	}
	return p.path + "/" + filepath.ToSlash(name)
}

// at returns the path of what has a name in the part.
func (p *part) at(name string) string { return p.dir + string(filepath.Separator) + name }

// withPath puts the full path into an error about a name.
func (p *part) withPath(name string, err error) error {
	return withPath(filepath.Join(p.dir, name), err)
}

func (w *walker) walk() (*listing, error) {
	at, err := openPlace(w.opt.FS, w.root)
	if err != nil {
		return nil, err
	}
	defer at.close()
	info, err := at.lstat()
	if err != nil {
		return nil, err
	}
	e, err := newEntry("", info)
	if err != nil {
		return nil, fmt.Errorf("%s %w", w.root, err)
	}
	if !info.IsDir() {
		w.entries = []proto.Entry{e}
		return &w.listing, nil
	}
	if e.Mode != usualDirMode {
		e.MTime = proto.NoMTime
		w.top = &e
	}
	root, err := at.open(false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := w.addDir(&part{root, w.root, ""}, "."); err != nil {
		return nil, err
	}
	slices.SortFunc(w.entries, func(a, b proto.Entry) int { return strings.Compare(a.Path, b.Path) })
	return &w.listing, nil
}

// addPart adds what is below a directory, which has a path in the content.
func (w *walker) addPart(dir, path string) error {
	root, err := w.opt.FS.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return w.addDir(&part{root, dir, path}, ".")
}

// addDir adds the names in a directory of a part. It keeps no descriptor open while it descends.
func (w *walker) addDir(p *part, dir string) error {
	names, err := p.readNames(dir)
	if err != nil {
		return p.withPath(dir, err)
	}
	for some := range slices.Chunk(names, lookAhead) {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		for i, name := range some {
			if dir != "." {
				some[i] = dir + string(filepath.Separator) + name
			}
		}
		for i, info := range p.root.LstatAll(some) {
			if err := w.addName(p, some[i], info); err != nil {
				return err
			}
		}
	}
	return nil
}

// readNames returns the sorted names in a directory.
func (p *part) readNames(dir string) ([]string, error) {
	f, err := p.root.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// addName adds what has a name in a part, and what is below it. Info is nil if Lstat failed.
func (w *walker) addName(p *part, name string, info fs.FileInfo) error {
	path := p.within(name)
	if w.leave[path] {
		return nil
	}
	if info == nil {
		var err error
		if info, err = p.root.Lstat(name); err != nil {
			return p.withPath(name, err)
		}
	}
	enter := func() error { return w.addDir(p, name) }
	switch link := info.Mode().Type() == fs.ModeSymlink; {
	case link && w.opt.FollowLinks:
		return w.orLeave(path, w.followLink(p, name))
	case link:
		target, err := p.root.Readlink(name)
		w.addLink(path, filepath.ToSlash(target))
		return p.withPath(name, err)
	case p.path != "":
		return w.addOutside(path, p.at(name), info, enter)
	}
	return w.add(path, p.at(name), info, enter)
}

// add adds a file or directory, which has a path in the content, and what is below it by enter.
func (w *walker) add(path, at string, info fs.FileInfo, enter func() error) error {
	e, err := newEntry(path, info)
	if err != nil {
		return fmt.Errorf("%s %w", at, err)
	}
	before := len(w.entries)
	w.entries = append(w.entries, e)
	if e.Kind == proto.Dir {
		err = enter()
	} else {
		err = w.mayRead(at, info)
	}
	if errors.Is(err, fs.ErrPermission) {
		w.entries = w.entries[:before]
		delete(w.taken, vfs.IDOf(info))
	}
	return w.orLeave(path, err)
}

// addLink adds a symbolic link.
func (w *walker) addLink(path, target string) {
	// The mode and time of a link itself do not matter, and copies do not get them.
	w.entries = append(w.entries, proto.Entry{Path: path, Kind: proto.Symlink, Target: target})
}

// orLeave returns an error about a path, unless it is about rights: then it leaves the path out. A
// later walk does not: what the first one could read has changed.
func (w *walker) orLeave(path string, err error) error {
	if w.leave != nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	w.closed[path] = true
	return nil
}

// mayRead fails if the file at a path may not be read. It opens only files that some user may not
// read, unless all that cannot be read is to be left out.
func (w *walker) mayRead(at string, info fs.FileInfo) error {
	const all = 0o444
	if w.leave != nil || info.Mode()&all == all && w.opt.SkipUnreadable == nil {
		return nil
	}
	f, err := w.opt.FS.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err == nil {
		_ = f.Close() // nothing was written
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil // hashing finds what else is wrong
}

// mtimeOf returns the modification time as manifests have it: of a time that does not fit, the nearest that does.
func mtimeOf(info fs.FileInfo) int64 {
	const first, last = proto.NoMTime + 1, math.MaxInt64
	switch t := info.ModTime(); {
	case t.Before(time.Unix(0, first)):
		return first
	case t.After(time.Unix(0, last)):
		return last
	default:
		return t.UnixNano()
	}
}

// newEntry returns the entry of a file or directory that info describes. Its error follows a path.
func newEntry(path string, info fs.FileInfo) (proto.Entry, error) {
	e := proto.Entry{Path: path, Mode: bitsOf(info.Mode()), MTime: mtimeOf(info)}
	switch info.Mode().Type() {
	case 0:
		e.Kind, e.Size = proto.File, info.Size()
	case fs.ModeDir:
		e.Kind = proto.Dir
	default:
		return e, errNotShareable
	}
	return e, nil
}
