package payload

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// assembler assembles blocks into verified pieces. Safe for concurrent use.
//
// It records the cells of each incomplete piece, as mob.State does. State decides in the loop
// which cells to request; the assembler decides in other goroutines which to write, and knows
// how far a piece is hashed.
type assembler struct {
	m  *proto.Manifest
	v  *store.Verifier
	st store.Store

	padded []bool // whether each piece has padding; empty for growing content
	split  []bool // whether each piece has parts of several files; empty for growing content

	mu       sync.Mutex
	open     map[uint32]*assembly
	suspects suspects
}

// assembly is one piece that is not complete.
type assembly struct {
	mu      sync.Mutex
	placed  []bool // whether each cell is written or being written
	arrived []bool // whether each cell is written and passed to verify
	missing int    // bytes that have not arrived
	hash    store.PieceHash
	hashed  int // bytes from the start of the piece that are in hash
	sources []proto.PeerID
	senders []uint8 // who sent each cell, by its index in sources, once there are two
	done    bool    // there is a verdict on the piece
}

// verdict is the outcome of a part of a piece.
type verdict int

const (
	duplicate  verdict = iota // the piece is already complete
	incomplete                // the piece is not complete yet
	committed                 // the piece is complete, verified and committed
	failed                    // the piece is complete and failed its hash
)

// newAssembler returns an assembler of the pieces that v verifies. It writes them to st.
func newAssembler(v *store.Verifier, st store.Store) *assembler {
	m := v.Manifest()
	a := &assembler{m: m, v: v, st: st, open: map[uint32]*assembly{}, suspects: suspects{}}
	if !v.Growing() {
		a.padded, a.split = pieceKinds(m)
	}
	return a
}

// reserve returns the new parts of a block, for write. There are none if the block is a
// duplicate. Until there is a verdict on the piece, no part is written twice: the bytes that
// arrive first are hashed. The span must be valid for the manifest.
func (a *assembler) reserve(sp proto.Span) []proto.Span { return a.piece(sp.Piece).reserve(sp) }

// write writes the parts that reserve returned of a block to the store, and returns them. It
// returns none if the block is a duplicate after all. Errors are the store's.
func (a *assembler) write(sp proto.Span, data []byte, parts []proto.Span) ([]proto.Span, error) {
	for _, part := range parts {
		from := part.Begin - sp.Begin
		_, err := a.st.WriteAt(data[from:from+part.Length], a.m.PieceOffset(int(sp.Piece))+int64(part.Begin))
		if errors.Is(err, store.ErrVerified) || errors.Is(err, store.ErrReadOnly) {
			// A late duplicate, requested in the end game.
			a.close(sp.Piece, a.piece(sp.Piece))
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// inSeveralFiles reports whether a piece has parts of several files.
func (a *assembler) inSeveralFiles(piece uint32) bool { return a.split != nil && a.split[piece] }

// verify hashes a part that write returned and from sent. With the last part it returns
// the verdict on the piece: if that failed, with those who sent parts of it, and if it is
// committed, with those who are known now to have sent false ones. Errors are the store's.
func (a *assembler) verify(sp proto.Span, data []byte, from proto.PeerID) (verdict, []proto.PeerID, error) {
	p := a.piece(sp.Piece)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return duplicate, nil, nil
	}
	p.add(sp, a.v.PieceSize(int(sp.Piece)))
	p.attribute(sp, from)
	// The store has zeros for padding, whatever was sent, so padded pieces are read back.
	if int(sp.Begin) == p.hashed && (a.padded == nil || !a.padded[sp.Piece]) {
		p.hash.Write(data)
		p.hashed += len(data)
	}
	if err := p.catchUp(a, int(sp.Piece)); err != nil {
		return duplicate, nil, err
	}
	if p.missing > 0 {
		return incomplete, nil, nil
	}
	return a.commit(int(sp.Piece), p)
}

// commit commits a complete piece if it is good. Until the store has it, no other block of the piece is written.
func (a *assembler) commit(i int, p *assembly) (verdict, []proto.PeerID, error) {
	defer a.finish(uint32(i), p)
	if !a.v.Verify(i, p.hash) {
		if n := len(p.sources); n > 1 && n <= math.MaxUint8 {
			a.suspects.add(a, i, p) // before the piece can be written again
		}
		return failed, p.sources, nil
	}
	if err := a.st.Commit(i); err != nil {
		return duplicate, nil, err
	}
	return committed, a.suspects.resolve(a, i), nil
}

func (a *assembler) discard(i uint32) {
	a.mu.Lock()
	p := a.open[i]
	a.mu.Unlock()
	if p != nil {
		a.close(i, p)
	}
}

func (a *assembler) close(i uint32, p *assembly) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.finish(i, p)
}

// finish ends an assembly. The caller holds its lock.
func (a *assembler) finish(i uint32, p *assembly) {
	p.done = true
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[i] == p {
		delete(a.open, i)
	}
}

func (a *assembler) piece(i uint32) *assembly {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.open[i]
	if p == nil {
		size := a.v.PieceSize(int(i))
		cells := (size + proto.Cell - 1) / proto.Cell
		p = &assembly{placed: make([]bool, cells), arrived: make([]bool, cells), missing: size, hash: a.v.NewHash()}
		a.open[i] = p
	}
	return p
}

// reserve marks the cells of a span that are not placed, and returns them as spans:
// nearly always the span itself, or none.
func (p *assembly) reserve(sp proto.Span) []proto.Span {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
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

// add marks the cells of a span as arrived. They may have been placed before the piece was discarded.
func (p *assembly) add(sp proto.Span, size int) {
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if !p.arrived[c] {
			p.placed[c], p.arrived[c] = true, true
			p.missing -= min(proto.Cell, size-c*proto.Cell)
		}
	}
}

func (p *assembly) attribute(sp proto.Span, from proto.PeerID) {
	i := slices.Index(p.sources, from)
	if i < 0 {
		i = len(p.sources)
		p.sources = append(p.sources, from)
	}
	if len(p.sources) == 1 {
		return
	}
	if p.senders == nil {
		p.senders = make([]uint8, len(p.arrived)) // earlier cells are from the first source
	}
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		p.senders[c] = uint8(i)
	}
}

// catchUp reads back and hashes what arrived out of order, which is rare: the blocks of a
// piece are requested in order, and arrive so from one peer over one channel.
func (p *assembly) catchUp(a *assembler, i int) error {
	size := a.v.PieceSize(i)
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
func (p *assembly) readBack(a *assembler, offset int64, n int) error {
	buf := GetBuffer(n)
	defer buf.Release()
	_, err := a.st.ReadAt(buf.B, offset+int64(p.hashed))
	p.hash.Write(buf.B)
	p.hashed += n
	return err
}
