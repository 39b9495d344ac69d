package peer

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"slices"
	"sync"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// cell is the unit in which the arrived bytes of a piece are counted. Every
// block begins at a multiple of it.
const cell = 16 << 10

// assembler turns blocks into verified pieces: it writes them to the store and
// hashes them as they come. Safe for concurrent use.
type assembler struct {
	m  *proto.Manifest
	st store.Store

	mu   sync.Mutex
	open map[uint32]*assembly
}

// assembly is one piece on its way.
type assembly struct {
	mu      sync.Mutex
	arrived []bool // per cell
	missing int    // bytes
	hash    hash.Hash
	hashed  int // bytes of the piece that the hash has taken in
	sources []proto.PeerID
	over    bool
}

// verdict is what became of a block.
type verdict int

const (
	blockDuplicate verdict = iota // nothing new in it
	blockStored
	pieceStored
	pieceFailed // see the sources
)

func newAssembler(m *proto.Manifest, st store.Store) *assembler {
	return &assembler{m: m, st: st, open: map[uint32]*assembly{}}
}

// write stores a block that from sent, and the piece's verdict with the last.
// The caller has checked the span against the manifest. An error is the store's.
func (a *assembler) write(sp proto.Span, data []byte, from proto.PeerID) (verdict, []proto.PeerID, error) {
	p := a.piece(sp.Piece)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.has(sp) {
		return blockDuplicate, nil, nil
	}
	_, err := a.st.WriteAt(data, a.m.PieceOffset(int(sp.Piece))+int64(sp.Begin))
	if errors.Is(err, store.ErrVerified) || errors.Is(err, store.ErrReadOnly) {
		// A second copy that was asked for in the end game, and came late.
		a.close(sp.Piece, p)
		return blockDuplicate, nil, nil
	}
	if err != nil {
		return blockDuplicate, nil, err
	}
	if !slices.Contains(p.sources, from) {
		p.sources = append(p.sources, from)
	}
	p.add(sp, a.m.PieceSize(int(sp.Piece)))
	if int(sp.Begin) == p.hashed {
		p.hash.Write(data)
		p.hashed += len(data)
	}
	if err := p.catchUp(a, int(sp.Piece)); err != nil {
		return blockDuplicate, nil, err
	}
	if p.missing > 0 {
		return blockStored, nil, nil
	}
	return a.judge(int(sp.Piece), p)
}

// judge compares the hash of a piece that is all there.
func (a *assembler) judge(i int, p *assembly) (verdict, []proto.PeerID, error) {
	a.close(uint32(i), p)
	want := a.m.Hash(i)
	if !bytes.Equal(p.hash.Sum(nil), want[:]) {
		return pieceFailed, p.sources, nil
	}
	if err := a.st.Commit(i); err != nil {
		return blockDuplicate, nil, err
	}
	return pieceStored, p.sources, nil
}

// close ends an assembly; the caller has its lock.
func (a *assembler) close(i uint32, p *assembly) {
	p.over = true
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
		size := a.m.PieceSize(int(i))
		p = &assembly{arrived: make([]bool, (size+cell-1)/cell), missing: size, hash: sha256.New()}
		a.open[i] = p
	}
	return p
}

func (p *assembly) has(sp proto.Span) bool {
	for c := int(sp.Begin) / cell; c*cell < int(sp.Begin+sp.Length); c++ {
		if !p.arrived[c] {
			return false
		}
	}
	return true
}

func (p *assembly) add(sp proto.Span, size int) {
	for c := int(sp.Begin) / cell; c*cell < int(sp.Begin+sp.Length); c++ {
		if !p.arrived[c] {
			p.arrived[c] = true
			p.missing -= min(cell, size-c*cell)
		}
	}
}

// catchUp hashes what came out of order, reading it back: blocks of a piece are
// asked for in order, so this is rare.
func (p *assembly) catchUp(a *assembler, i int) error {
	size := a.m.PieceSize(i)
	for p.hashed < size && p.arrived[p.hashed/cell] {
		end := p.hashed
		for end < size && end-p.hashed < proto.MaxBlock && p.arrived[end/cell] {
			end = min((end/cell+1)*cell, size)
		}
		buf := blocks.get(end - p.hashed)
		_, err := a.st.ReadAt(buf.b, a.m.PieceOffset(i)+int64(p.hashed))
		p.hash.Write(buf.b)
		p.hashed = end
		blocks.put(buf)
		if err != nil {
			return err
		}
	}
	return nil
}
