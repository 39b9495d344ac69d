package store

// Refresh has an [Audit] read the current files from the disk: it closes
// the open files, which may have been removed or replaced, and drops what the system has
// cached of them, where it can. The store may be in use.
func (d *Disk) Refresh() {
	t := d.tree
	for file := range t.layout.files() {
		if t.layout.pad(file) {
			continue
		}
		h, err := t.files.acquire(t, file)
		if err != nil {
			continue // the read of its pieces says why
		}
		h.f.DropCache()
		t.files.release(h)
	}
	t.files.drop(t)
}
