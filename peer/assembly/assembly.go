// Package assembly turns blocks into verified pieces: it writes them to a store
// and hashes them as they come. It knows no network.
package assembly

import (
	"errors"
	"slices"
	"sync"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Assembler puts the pieces of one content together. Safe for concurrent use.
type Assembler struct {
	m  *proto.Manifest
	v  *store.Verifier
	st store.Store

	padded []bool // per piece: a part of it is padding; nil when none is

	spare sync.Pool // of *[proto.MaxBlock]byte, for what is read back

	mu   sync.Mutex
	open map[uint32]*assembly
}

// assembly is one piece on its way.
type assembly struct {
	mu      sync.Mutex
	placed  []bool // per cell: written, or being written
	arrived []bool // per cell: written, and known to the hash's keeper
	missing int    // bytes
	hash    store.PieceHash
	hashed  int // bytes of the piece that the hash has taken in
	sources []proto.PeerID
	over    bool
}

// Verdict is what became of a part of a piece.
type Verdict int

// The verdicts.
const (
	Duplicate   Verdict = iota // the piece is over: nothing came of it
	Stored                     // there is more to come
	PieceStored                // it was the last, and the piece is good and committed
	PieceFailed                // it was the last, and the hash is wrong
)

// New is an assembler of the pieces that v verifies, which it writes to st.
func New(v *store.Verifier, st store.Store) *Assembler {
	m := v.Manifest()
	return &Assembler{m: m, v: v, st: st, padded: paddedPieces(m), open: map[uint32]*assembly{}}
}

// Place writes what is new of a block to the store, and returns the parts: none
// for a block that was there already. A part that is placed is never written
// again before the verdict: the hash is of the bytes that came first. The caller
// has checked the span against the manifest. An error is the store's.
func (a *Assembler) Place(sp proto.Span, data []byte) ([]proto.Span, error) {
	parts := a.piece(sp.Piece).reserve(sp)
	for _, part := range parts {
		from := part.Begin - sp.Begin
		_, err := a.st.WriteAt(data[from:from+part.Length], a.m.PieceOffset(int(sp.Piece))+int64(part.Begin))
		if errors.Is(err, store.ErrVerified) || errors.Is(err, store.ErrReadOnly) {
			// A second copy that was asked for in the end game, and came late.
			a.close(sp.Piece, a.piece(sp.Piece))
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// Take hashes a part that was placed, which from sent, and gives the piece's
// verdict with the last. An error is the store's.
func (a *Assembler) Take(sp proto.Span, data []byte, from proto.PeerID) (Verdict, []proto.PeerID, error) {
	p := a.piece(sp.Piece)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return Duplicate, nil, nil
	}
	if !slices.Contains(p.sources, from) {
		p.sources = append(p.sources, from)
	}
	p.add(sp, a.m.PieceSize(int(sp.Piece)))
	// Padding is zeros for the store, whatever was sent: then what it has is hashed.
	if int(sp.Begin) == p.hashed && (a.padded == nil || !a.padded[sp.Piece]) {
		p.hash.Write(data)
		p.hashed += len(data)
	}
	if err := p.catchUp(a, int(sp.Piece)); err != nil {
		return Duplicate, nil, err
	}
	if p.missing > 0 {
		return Stored, nil, nil
	}
	return a.judge(int(sp.Piece), p)
}

// judge compares the hash of a piece that is all there.
func (a *Assembler) judge(i int, p *assembly) (Verdict, []proto.PeerID, error) {
	a.finish(uint32(i), p)
	if !a.v.Verify(i, p.hash) {
		return PieceFailed, p.sources, nil
	}
	if err := a.st.Commit(i); err != nil {
		return Duplicate, nil, err
	}
	return PieceStored, p.sources, nil
}

// close ends an assembly that is of no use.
func (a *Assembler) close(i uint32, p *assembly) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.finish(i, p)
}

// finish ends an assembly; the caller has its lock.
func (a *Assembler) finish(i uint32, p *assembly) {
	p.over = true
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[i] == p {
		delete(a.open, i)
	}
}

func (a *Assembler) piece(i uint32) *assembly {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.open[i]
	if p == nil {
		size := a.m.PieceSize(int(i))
		cells := (size + proto.Cell - 1) / proto.Cell
		p = &assembly{placed: make([]bool, cells), arrived: make([]bool, cells), missing: size, hash: a.v.NewHash()}
		a.open[i] = p
	}
	return p
}

// reserve marks the cells of a span that nobody has placed, and returns them as
// spans: nearly always the span itself, or nothing.
func (p *assembly) reserve(sp proto.Span) []proto.Span {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil
	}
	var parts []proto.Span
	end := sp.Begin + sp.Length
	for at := sp.Begin; at < end; at = (at/proto.Cell + 1) * proto.Cell {
		if p.placed[at/proto.Cell] {
			continue
		}
		p.placed[at/proto.Cell] = true
		n := min((at/proto.Cell+1)*proto.Cell, end) - at
		if k := len(parts) - 1; k >= 0 && parts[k].Begin+parts[k].Length == at {
			parts[k].Length += n
		} else {
			parts = append(parts, proto.Span{Piece: sp.Piece, Begin: at, Length: n})
		}
	}
	return parts
}

func (p *assembly) add(sp proto.Span, size int) {
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if !p.arrived[c] {
			p.arrived[c] = true
			p.missing -= min(proto.Cell, size-c*proto.Cell)
		}
	}
}

// catchUp hashes what came out of order, reading it back. Blocks of a piece are
// asked for in order, and come so from one peer over one channel.
func (p *assembly) catchUp(a *Assembler, i int) error {
	size := a.m.PieceSize(i)
	for p.hashed < size && p.arrived[p.hashed/proto.Cell] {
		end := p.hashed
		for end < size && end-p.hashed < proto.MaxBlock && p.arrived[end/proto.Cell] {
			end = min((end/proto.Cell+1)*proto.Cell, size)
		}
		if err := p.readBack(a, a.m.PieceOffset(i), min(end-p.hashed, proto.MaxBlock)); err != nil {
			return err
		}
	}
	return nil
}

// readBack hashes the next n bytes of the piece at offset.
func (p *assembly) readBack(a *Assembler, offset int64, n int) error {
	buf, _ := a.spare.Get().(*[proto.MaxBlock]byte)
	if buf == nil {
		buf = new([proto.MaxBlock]byte)
	}
	defer a.spare.Put(buf)
	_, err := a.st.ReadAt(buf[:n], offset+int64(p.hashed))
	p.hash.Write(buf[:n])
	p.hashed += n
	return err
}
