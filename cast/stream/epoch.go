package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/libp2p/go-libp2p/core/crypto"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

const (
	// pieceSize is the length of the pieces of a stream in bytes, unless they are cut short.
	pieceSize = 128 << 10
	// epochPieces is the number of pieces in an epoch.
	epochPieces = 8192
)

// opens reports whether nodes join the swarm of the next epoch when piece n is announced. They need some time to find each
// other.
func opens(n, epoch uint64) bool { return n%epoch >= epoch-max(epoch/8, 1) }

// epoch is a range of pieces that share a swarm. It is the [store.Store] of the swarm at one node.
type epoch struct {
	number uint64
	swarm  *peer.Growing

	// lost is called when a piece is damaged. read, if not nil, is called when bytes of a piece are sent, or cannot be read.
	lost func()
	read func(p *piece, from, to int, err error)

	mu       sync.RWMutex // guards what follows; nothing under it waits
	pieces   map[int]*piece
	verified map[int]bool
}

var _ store.Store = (*epoch)(nil)

func newEpoch(number uint64) *epoch {
	return &epoch{number: number, pieces: map[int]*piece{}, verified: map[int]bool{}}
}

// join joins the swarm of the epoch. At a receiver, peers are the addresses of the sender.
func (e *epoch) join(n *peer.Node, key crypto.PubKey, pieces uint64, peers []ma.Multiaddr, source bool) error {
	link := epochLink(key, e.number)
	link.Length, link.Trackers, link.Peers = int64(pieces)*pieceSize, peers, peers
	var err error
	e.swarm, err = n.Join(link, e, peer.JoinOptions{Pieces: int(pieces), PieceLength: pieceSize, Source: source})
	return err
}

// leave leaves the swarm, and waits until that is done.
func (e *epoch) leave(n *peer.Node) {
	_, _ = n.Remove(e.swarm.Transfer, false) // fails only if the node closes, which ends it too
}

// epochLink returns the link of an epoch of the stream with a key.
func epochLink(key crypto.PubKey, number uint64) *proto.Link {
	raw, _ := key.Raw() // an Ed25519 key has a raw form
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(append([]byte("mob-stream:"), raw...), number))
	return &proto.Link{Manifest: proto.ManifestCID(sum[:]), Name: fmt.Sprintf("stream-%x-%d", sum[:6], number)}
}

// put adds a piece. A verified piece has its bytes.
func (e *epoch) put(i int, p *piece, verified bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pieces[i] = p
	if verified {
		e.verified[i] = true
	}
}

// drop removes a piece and frees it.
func (e *epoch) drop(i int) {
	e.mu.Lock()
	p := e.pieces[i]
	delete(e.pieces, i)
	delete(e.verified, i)
	e.mu.Unlock()
	p.free()
}

// piece returns a piece, or nil.
func (e *epoch) piece(i int) (p *piece, verified bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.pieces[i], e.verified[i]
}

// each calls do for each piece that overlaps b, with the overlap and its offset in the piece.
func (e *epoch) each(b []byte, offset int64, do func(i int, b []byte, at int) error) (n int, err error) {
	for n < len(b) && err == nil {
		i, at := int(offset/pieceSize), int(offset%pieceSize)
		part := b[n:min(len(b), n+pieceSize-at)]
		if err = do(i, part, at); err == nil {
			n += len(part)
			offset += int64(len(part))
		}
	}
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (e *epoch) ReadAt(b []byte, offset int64) (int, error) {
	return e.each(b, offset, func(i int, b []byte, at int) error {
		p, _ := e.piece(i)
		if p == nil {
			return os.ErrClosed
		}
		err := p.read(b, at)
		if e.read != nil {
			e.read(p, at, at+len(b), err)
		}
		return err
	})
}

// WriteAt implements [io.WriterAt]. A piece that was dropped had been verified.
func (e *epoch) WriteAt(b []byte, offset int64) (int, error) {
	return e.each(b, offset, func(i int, b []byte, at int) error {
		p, verified := e.piece(i)
		if p == nil || verified {
			return store.ErrVerified
		}
		return p.write(b, at)
	})
}

// Has implements [store.Store].
func (e *epoch) Has(i int) bool {
	_, verified := e.piece(i)
	return verified
}

// Count implements [store.Store].
func (e *epoch) Count() int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return len(e.verified)
}

// errUnused is returned for a piece that was dropped.
var errUnused = errors.New("the piece is not in use")

// Commit implements [store.Store].
func (e *epoch) Commit(i int) error {
	e.mu.Lock()
	p, before := e.pieces[i], e.verified[i]
	if p != nil {
		e.verified[i] = true
	}
	e.mu.Unlock()
	if p == nil {
		return errUnused
	}
	if !before && p.stored != nil {
		p.stored()
	}
	return nil
}

// Forget implements [store.Store].
func (e *epoch) Forget(i int) error {
	e.mu.Lock()
	before := e.verified[i]
	delete(e.verified, i)
	e.mu.Unlock()
	if before {
		e.lost()
	}
	return nil
}

// Publish implements [store.Store].
func (e *epoch) Publish() error { return store.ErrNotWhole }

// Finish implements [store.Store].
func (e *epoch) Finish() error { return store.ErrNotWhole }

// Close implements [io.Closer].
func (e *epoch) Close() error { return nil }
