package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
)

// ID distinguishes a file from every other file that exists at the same time.
type ID struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// IDOf returns the ID of what info describes.
func IDOf(info fs.FileInfo) ID {
	st := StatOf(info)
	return ID{st.Device, st.Inode}
}

// Place is the target of a path, by identity: two paths have the same place if they differ by symbolic links or
// mounts only, or if a directory above was renamed between two calls of [PlaceOf].
type Place struct {
	// Path has no symbolic links.
	Path string `json:"path"`
	// IDs lists the directories above the last name of the path that exists, and the ID of that name
	// last. If a directory is mounted at several paths, the directories above each of them are included.
	IDs []ID `json:"ids"`
	// Rest lists the names of the path that do not exist, below the last ID.
	Rest []string `json:"rest,omitempty"`
	// Mounted lists the IDs of what is mounted below the path, and of the directories above its other paths.
	Mounted []ID `json:"-"`
}

// PlaceOf returns the place that an absolute path leads to.
func PlaceOf(fsys FS, path string) (Place, error) {
	var p Place
	found := filepath.Clean(path)
	for {
		resolved, err := fsys.Resolve(found)
		if err == nil {
			found = resolved
			break
		}
		if !missing(err) || found == filepath.Dir(found) {
			return p, err
		}
		p.Rest = append(p.Rest, filepath.Base(found))
		found = filepath.Dir(found)
	}
	slices.Reverse(p.Rest)
	p.Path = filepath.Join(append([]string{found}, p.Rest...)...)
	var err error
	if p.IDs, err = above(fsys, found); err != nil {
		return p, err
	}
	mounts := readMounts()
	p.IDs = append(mounts.elsewhere(fsys, found), p.IDs...)
	for _, at := range mounts.below(found) {
		p.Mounted = append(p.Mounted, mounts.elsewhere(fsys, at)...)
	}
	return p, nil
}

// PlaceFor is PlaceOf as far as a user may look. The user is nil for the process's own. Its error for a path that the user may not
// reach does not depend on the files there.
func PlaceFor(u *User, path string) (Place, error) {
	p, err := PlaceOf(OS{}, path)
	if u == nil {
		return p, err
	}
	if err == nil {
		_, err = As(u, "").Lstat(p.Path)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return Place{}, &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	return p, err
}

// elsewhere is above for the other paths of the file at a path.
func (all mounts) elsewhere(fsys FS, path string) (ids []ID) {
	for _, alias := range all.aliases(path) {
		here, errHere := fsys.Stat(path)
		there, errThere := fsys.Stat(alias)
		if errHere != nil || errThere != nil || !SameFile(here, there) {
			continue // another file hides it
		}
		more, _ := above(fsys, alias) // none after an error
		ids = append(ids, more...)
	}
	return ids
}

// above returns the IDs of the directories above a path without symbolic links, and its own.
func above(fsys FS, path string) (ids []ID, err error) {
	for ; ; path = filepath.Dir(path) {
		info, err := fsys.Stat(path)
		if err != nil {
			return nil, err
		}
		ids = append(ids, IDOf(info))
		if path == filepath.Dir(path) {
			slices.Reverse(ids)
			return ids, nil
		}
	}
}

// missing reports whether an error means that a path leads to nothing.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Last returns the ID of the last name of the path that exists.
func (p Place) Last() ID {
	if len(p.IDs) == 0 {
		return ID{}
	}
	return p.IDs[len(p.IDs)-1]
}

// Same reports whether p and q are the same place.
func (p Place) Same(q Place) bool {
	return len(p.IDs) > 0 && p.Last() == q.Last() && slices.Equal(p.Rest, q.Rest)
}

// Holds reports whether q is p or below it, or a part of q is mounted below p.
func (p Place) Holds(q Place) bool {
	if len(p.Rest) == 0 {
		return len(p.IDs) > 0 && (slices.Contains(q.IDs, p.Last()) || len(q.Rest) == 0 && slices.Contains(p.Mounted, q.Last()))
	}
	return p.Last() == q.Last() && len(q.Rest) >= len(p.Rest) && slices.Equal(p.Rest, q.Rest[:len(p.Rest)])
}
