package store

import (
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// RoomFor is [Disk.Room] for content that does not exist yet.
func RoomFor(root string, m *proto.Manifest, files *Files) (need, free int64, known bool) {
	dir, err := files.fs.OpenRoot(filepath.Dir(root))
	if err != nil {
		return 0, 0, false // to create the content fails too
	}
	defer dir.Close()
	free, known = dir.Free()
	need, _ = newDisk(m, files).missing()
	return need, free, known
}

// missing returns the bytes of the pieces that are not stored, and of those that are zeros and need no room.
func (d *Disk) missing() (need, zero int64) {
	zeros := d.zeros()
	for piece := range d.m.Pieces() {
		size := int64(d.m.PieceSize(piece))
		switch {
		case d.LeavesOut(piece):
		case zeros.matches(d.m, piece):
			zero += size
		case !d.verified.has(piece):
			need += size
		}
	}
	return need, zero
}

// Room returns how many bytes the pieces need that are not stored, and how many the file system has
// free. Pieces of zeros need none. It reports false if that is not known.
func (d *Disk) Room() (need, free int64, known bool) {
	free, known = d.tree.root.Free()
	need, zero := d.missing()
	// Pieces that are not verified may have their place already, from before.
	rest := d.m.Length() - zero
	for file := range d.tree.layout.files() {
		if d.tree.layout.pad(file) {
			rest -= d.tree.layout.size(file)
			continue
		}
		if d.files.at(file).state == fileGone {
			continue
		}
		if info, err := d.tree.stat(file); err == nil && info != nil {
			rest -= min(vfs.StatOf(info).Allocated, d.tree.layout.size(file))
		}
	}
	return max(min(need, rest), 0), free, known
}
