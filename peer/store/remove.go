package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/proto"
)

// Left is a file, symbolic link or directory that [Remove] has left in its place.
type Left struct {
	// Path is its path.
	Path string `json:"path"`
	// Why is the reason.
	Why string `json:"why"`
}

// Why something is left.
const (
	leftForeign  = "not part of the content"
	leftFound    = "not created by this transfer"
	leftChanged  = "changed since it was fetched"
	leftReplaced = "replaced by something else"
)

// maxLeft is the number of things that Remove names. It counts the remaining ones.
const maxLeft = 100

var errRemoveSeed = errors.New("the content was not fetched but seeded in place: delete it yourself")

// Remove deletes the files of the content of m at root that were fetched: the regular
// files, symbolic links and directories that the manifest names and that the transfer
// with the state directory dir has created. It follows no symbolic link. A
// file that was changed since is left, and so is a directory that
// has something else in it. Remove returns what it has left, the last element counting
// what is beyond 100.
//
// No store of the transfer may be open. The state directory is left: Remove can be
// repeated if it fails or a crash cuts it short.
func Remove(dir, root string, m *proto.Manifest, files *Files) ([]Left, error) {
	at, err := openPlace(files.fs, root)
	if err == nil {
		defer at.close()
		_, err = at.lstat()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := opening{Disk: newDisk(m, files)}
	err = d.openJournal(dir)
	if errors.Is(err, journal.ErrNone) {
		return []Left{{at.path, leftFound}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.journal.Close()
	if d.journal.Seed() {
		return nil, errRemoveSeed
	}
	if err := at.check(m); err != nil {
		return []Left{{at.path, leftReplaced}}, nil //nolint:nilerr // says so
	}
	if err := d.openTree(at); err != nil {
		return nil, err
	}
	defer d.tree.root.Close()
	r := remover{Disk: d.Disk, at: at, kept: make(map[string]bool)}
	err = r.removeAll()
	return r.result(), err
}

// remover removes the files of a transfer.
type remover struct {
	*Disk
	at   *place
	left []Left
	kept map[string]bool // names of the content that are left
}

func (r *remover) result() []Left {
	if more := len(r.left) - maxLeft; more > 0 {
		return append(r.left[:maxLeft], Left{r.tree.path, fmt.Sprintf("and %d more", more)})
	}
	return r.left
}

func (r *remover) keep(name, why string) {
	r.kept[name] = true
	r.left = append(r.left, Left{r.tree.fullPath(name), why})
}

// removeAll removes the entries from the last to the first: a manifest has a directory
// before the entries in it.
func (r *remover) removeAll() error {
	t := r.tree
	for i, e := range slices.Backward(t.m.Entries) {
		if e.Kind == proto.Pad {
			continue
		}
		if err := r.removeEntry(i, &e); err != nil {
			return err
		}
	}
	if t.single() {
		temp := t.tempName(t.name(0))
		if t.inodeOf(temp) == 0 {
			return nil
		}
		return r.remove(temp) // a crash left it
	}
	info, err := t.lstat(".")
	if err != nil {
		return t.withPath(".", err)
	}
	return r.removeDir(len(t.m.Entries), info)
}

// removeEntry removes an entry, unless it is not the transfer's.
func (r *remover) removeEntry(entry int, e *proto.Entry) error {
	name := r.tree.name(entry)
	info, err := r.tree.find(name)
	if info == nil {
		return err
	}
	why, err := r.reason(entry, e, info)
	if err != nil {
		return err
	}
	if why != "" {
		r.keep(name, why)
		return nil
	}
	if e.Kind != proto.Dir {
		return r.remove(name)
	}
	return r.removeDir(entry, info)
}

// removeDir removes a directory that is empty and that the transfer created.
func (r *remover) removeDir(entry int, info fs.FileInfo) error {
	name := r.tree.name(entry)
	why, err := r.emptied(name)
	switch {
	case err != nil:
		return err
	case name == "." && why != "": // its entries are named
		return nil
	case why == "" && !r.made(entry, info):
		why = leftFound
	case why == "" && name == "." && !r.at.leadsTo(info): // what has its name now is the user's
		why = leftReplaced
	case why == "" && name == ".":
		if err := r.at.in.Remove(r.at.name); !errors.Is(err, fs.ErrNotExist) {
			return r.at.withPath(err)
		}
		return nil
	case why == "":
		return r.remove(name)
	}
	r.keep(name, why)
	return nil
}

// remove removes a file, a symbolic link or an empty directory. Publish may have made the
// directory that it is in read-only.
func (r *remover) remove(name string) error {
	err := permitCall(r.tree, filepath.Dir(name), func() error { return r.tree.root.Remove(name) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "remove", Path: r.tree.fullPath(name), Err: withoutPath(err)}
	}
	return nil
}

// reason returns why an entry is left, "" if it is the transfer's.
func (r *remover) reason(entry int, e *proto.Entry, info fs.FileInfo) (string, error) {
	what, err := r.tree.difference(entry, info)
	switch {
	case err != nil:
		return "", err
	case what == Replaced, what == Changed && e.Kind == proto.Symlink:
		return leftReplaced, nil
	case e.Kind == proto.Dir:
		return "", nil
	case what == Grown: // the store writes no byte after the end
		return leftChanged, nil
	}
	f, owns := r.files.at(entry).File, r.owns(entry, info)
	switch {
	case !f.Made, e.Size == 0 && !owns:
		return leftFound, nil
	case !owns, f.Changed != 0 && f.Stamp != stampOf(info),
		f.Changed == 0 && e.Size == 0 && e.Kind == proto.File && !r.tree.looksOurs(e, info),
		f.Touched && !r.tree.every(entry, r.journal.Verified):
		return leftChanged, nil
	}
	return "", nil
}

// made reports whether the transfer created a directory.
func (r *remover) made(entry int, info fs.FileInfo) bool {
	f := r.files.at(entry).File
	return !r.hasDirs() && f.Inode == 0 || f.Made && r.owns(entry, info)
}

// hasDirs reports whether the journal has the directories that the transfer created. A journal of an earlier version, without
// a record of the root, does not: the transfer created those without a record.
func (d *Disk) hasDirs() bool { return d.files.at(len(d.m.Entries)).Inode != 0 }

// emptied returns why a directory is left: "" if nothing is in it. It records names
// that are not part of the content.
func (r *remover) emptied(name string) (why string, err error) {
	names, err := r.tree.namesIn(name)
	if err != nil {
		return "", r.tree.withPath(name, err)
	}
	slices.Sort(names)
	for _, child := range names {
		temp := strings.HasPrefix(child, r.tree.temp)
		child = filepath.Join(name, child)
		if temp {
			// A crash left it.
			if err := r.remove(child); err != nil {
				return "", err
			}
			continue
		}
		why = "not empty"
		if !r.kept[child] {
			r.keep(child, leftForeign)
		}
	}
	return why, nil
}
