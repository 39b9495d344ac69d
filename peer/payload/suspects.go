package payload

import (
	"crypto/sha256"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// maxSuspects bounds the pieces of which suspects keeps the parts.
const maxSuspects = 256

// suspects has the parts of pieces that came from several peers and failed their hashes, by piece. They are
// compared with the piece once that is right, as libtorrent's smart ban does: that finds out who sent false
// ones. It is guarded by the lock of its assembler.
type suspects map[int][]suspectPart

// suspectPart is the part of a piece that one peer sent: bytes from start to end.
type suspectPart struct {
	from       proto.PeerID
	start, end int
	sum        [sha256.Size]byte
}

// add keeps the parts of a piece that failed, as they are in the store.
func (s suspects) add(a *assembler, i int, p *assembly) {
	var parts []suspectPart
	size := a.v.PieceSize(i)
	for c := range p.senders {
		from := p.sources[p.senders[c]]
		if n := len(parts); n > 0 && parts[n-1].from == from {
			parts[n-1].end = min((c+1)*proto.Cell, size)
			continue
		}
		parts = append(parts, suspectPart{from: from, start: c * proto.Cell, end: min((c+1)*proto.Cell, size)})
	}
	for k := range parts {
		sum, err := a.sum(i, parts[k].start, parts[k].end)
		if err != nil {
			return
		}
		parts[k].sum = sum
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s[i] == nil && len(s) == maxSuspects { // of some pieces the parts are never resolved
		for other := range s {
			delete(s, other)
			break
		}
	}
	s[i] = parts // only these: the piece is fetched from one peer now
}

// resolve returns who sent false parts of a piece that is right now.
func (s suspects) resolve(a *assembler, i int) (guilty []proto.PeerID) {
	a.mu.Lock()
	parts := s[i]
	delete(s, i)
	a.mu.Unlock()
	for _, part := range parts {
		sum, err := a.sum(i, part.start, part.end)
		if err == nil && sum != part.sum && !slices.Contains(guilty, part.from) {
			guilty = append(guilty, part.from)
		}
	}
	return guilty
}

// sum hashes bytes of a piece in the store.
func (a *assembler) sum(i, begin, end int) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	buf := GetBuffer(min(end-begin, proto.MaxBlock))
	defer buf.Release()
	for at := begin; at < end; at += len(buf.B) {
		b := buf.B[:min(len(buf.B), end-at)]
		if _, err := a.st.ReadAt(b, a.m.PieceOffset(i)+int64(at)); err != nil {
			return sum, err
		}
		h.Write(b)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
