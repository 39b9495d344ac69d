package store

// holeHasher is a reader that can tell the hash of some pieces without reading
// them: those that lie in holes of their files, and so are zeros.
type holeHasher interface {
	// hashHole returns the hash of a piece, if it knows that without reading.
	hashHole(piece int) (sum pieceSum, ok bool)
}

// hashHole implements [holeHasher]. What it says is as true as what a read at that
// moment would have given: whoever looks for changes of the files afterwards
// needs to do nothing else.
func (d *Disk) hashHole(piece int) (sum pieceSum, ok bool) {
	// The hash of a last piece that is shorter would serve for one piece only.
	if size := d.m.PieceSize(piece); size < int(d.m.PieceLength) || !d.inHole(d.m.PieceOffset(piece), int64(size)) {
		return sum, false
	}
	return d.zeros(), true
}

// inHole reports whether n bytes at an offset of the stream are in holes of their
// files. It reports false for what is in doubt: reading tells then.
func (d *Disk) inHole(offset, n int64) bool {
	l := &d.tree.layout
	for file := l.find(offset); n > 0; file++ {
		part := min(n, l.end(file)-offset)
		if !d.tree.inHole(file, offset-l.starts[file], part) {
			return false
		}
		offset, n = offset+part, n-part
	}
	return true
}

// inHole reports whether n bytes at an offset of a file are in a hole of it.
func (t *tree) inHole(file int, offset, n int64) bool {
	if t.layout.pad(file) {
		return true
	}
	h, err := t.files.acquire(t, file)
	if err != nil {
		return false
	}
	defer t.files.release(h)
	return isHole(h.f, offset, n)
}

// commitHoles commits the pieces of zeros of a new content: its files begin as
// holes, so they are there. Without it they would be fetched, and would take room.
func (d *Disk) commitHoles() error {
	for piece := range d.m.Pieces() {
		if sum := d.zeros(); !sum.fits(d.m, piece) {
			continue
		}
		first, after := d.tree.layout.pieceFiles(d.m, piece)
		for file := first; file < after; file++ {
			if err := d.tree.makeReady(file); err != nil {
				return err
			}
			// Like a write: the next flush is to cover the file's size.
			d.tree.dirty.set(file)
		}
		if _, ok := d.hashHole(piece); !ok {
			continue
		}
		if err := d.Commit(piece); err != nil {
			return err
		}
	}
	return nil
}

// zeros is the sum of n zeros, by h, which is new.
func zeros(h PieceHash, n int64) pieceSum {
	part := make([]byte, min(n, 64<<10))
	for ; n > 0; n -= int64(len(part)) {
		part = part[:min(n, int64(len(part)))]
		h.Write(part)
	}
	return h.sum()
}
