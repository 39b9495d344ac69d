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
	d := newDisk(m, files)
	need, _ = d.missing(d.zeros())
	return need, free, known
}

// Room returns how many bytes the pieces need that are not stored, and how many the file system has
// free. Pieces of zeros need none. It reports false if that is not known.
func (d *Disk) Room() (need, free int64, known bool) {
	free, known = d.tree.root.Free()
	need, zero := d.missing(d.zeros())
	// Pieces that are not verified may have their place already, from before.
	rest := -zero
	for file := range d.tree.all() {
		rest += d.tree.size(file)
		if d.files.at(file).state == fileGone {
			continue
		}
		if info, err := d.tree.stat(file); err == nil && info != nil {
			rest -= min(vfs.StatOf(info).Allocated, d.tree.size(file))
		}
	}
	return max(min(need, rest), 0), free, known
}
