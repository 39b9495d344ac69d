package bittorrent

import "github.com/mobgrid/mob/proto"

// bitfield is a set of pieces, a bit each, the first in the highest bit as on the
// wire.
type bitfield struct {
	b []byte
	n int // pieces
}

func newBitfield(n int) bitfield { return bitfield{make([]byte, (n+7)/8), n} }

func (f bitfield) has(i uint32) bool { return f.b[i/8]&(0x80>>(i%8)) != 0 }

func (f bitfield) add(i uint32) { f.b[i/8] |= 0x80 >> (i % 8) }

func (f bitfield) remove(i uint32) { f.b[i/8] &^= 0x80 >> (i % 8) }

func (f bitfield) bytes() []byte { return f.b }

// ranges lists the set.
func (f bitfield) ranges() []proto.Range {
	var rs []proto.Range
	for i := range uint32(f.n) {
		switch k := len(rs) - 1; {
		case !f.has(i):
		case k >= 0 && rs[k].First+rs[k].Count == i:
			rs[k].Count++
		default:
			rs = append(rs, proto.Range{First: i, Count: 1})
		}
	}
	return rs
}

// view is who has what, of a guest and the node. Its user has a lock.
type view struct {
	// ours is what the guest was told of, theirs what it told of.
	ours, theirs           bitfield
	oursCount, theirsCount int
	lack                   int // pieces of theirs that are not in ours
	interested             bool
	unchoked               bool // by the guest
}

func newView(pieces int) view {
	return view{ours: newBitfield(pieces), theirs: newBitfield(pieces)}
}

// begin notes what the node has, and counts it.
func (v *view) begin(has func(uint32) bool) int {
	for i := range uint32(v.ours.n) {
		if has(i) {
			v.got(i)
		}
	}
	return v.oursCount
}

// got notes that the node has a piece; it is false when the guest knows.
func (v *view) got(i uint32) bool {
	if v.ours.has(i) {
		return false
	}
	v.ours.add(i)
	v.oursCount++
	if v.theirs.has(i) {
		v.lack--
	}
	return true
}

// has notes that the guest has a piece; it is false when it said so before.
func (v *view) has(i uint32) bool {
	if v.theirs.has(i) {
		return false
	}
	v.theirs.add(i)
	v.theirsCount++
	if !v.ours.has(i) {
		v.lack++
	}
	return true
}

// bad takes back that the guest has a piece.
func (v *view) bad(i uint32) {
	if int(i) >= v.theirs.n || !v.theirs.has(i) {
		return
	}
	v.theirs.remove(i)
	v.theirsCount--
	if !v.ours.has(i) {
		v.lack--
	}
}

// offered is what the guest has and would send.
func (v *view) offered() []proto.Range {
	if !v.unchoked {
		return nil
	}
	return v.theirs.ranges()
}

func (v *view) bothWhole() bool { return v.oursCount == v.ours.n && v.theirsCount == v.ours.n }
