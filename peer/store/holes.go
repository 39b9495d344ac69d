package store

// holeHasher is a reader that knows the hash of pieces in holes of sparse files, which
// are zeros, without reading them.
type holeHasher interface {
	// hashHole returns the hashes of a piece if it is in holes.
	hashHole(piece int) (sum pieceSum, ok bool)
}

// hashHole implements [holeHasher]. The answer is what a read would have returned at
// that moment.
func (d *Disk) hashHole(piece int) (sum pieceSum, ok bool) {
	// Only the last piece may be shorter. It is read, as its hash differs.
	size := d.m.PieceSize(piece)
	if size < int(d.m.PieceLength) || !d.inHole(d.m.PieceOffset(piece), int64(size)) {
		return sum, false
	}
	return d.zeros(), true
}

// inHole reports whether n bytes at an offset of the stream are in holes of their
// files. It reports false if that is not certain.
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
	return h.f.IsHole(offset, n)
}

// commitHoles commits the pieces of zeros of new content, whose files start as holes.
// They need not be fetched and take no disk space.
func (d *Disk) commitHoles() error {
	zeros := d.zeros()
	for piece := range d.m.Pieces() {
		if !zeros.matches(d.m, piece) {
			continue
		}
		first, after := d.tree.layout.pieceFiles(d.m, piece)
		for file := first; file < after; file++ {
			if err := d.tree.makeReady(file); err != nil {
				return err
			}
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

// hashZeros returns the sum of n zeros, with h, which must be new.
func hashZeros(h PieceHash, n int64) pieceSum {
	part := make([]byte, min(n, 64<<10))
	for ; n > 0; n -= int64(len(part)) {
		part = part[:min(n, int64(len(part)))]
		h.Write(part)
	}
	return h.sum()
}
