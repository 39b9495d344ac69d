package peer

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// JoinOptions are the options of [Node.Join].
type JoinOptions struct {
	// Pieces bounds the pieces of the content, which have PieceLength bytes each, a power of two, or less.
	// All members of the swarm have to use the same.
	Pieces      int
	PieceLength uint32
	// Source is set if the node has every piece. Then nothing is fetched.
	Source bool
}

// Growing is a transfer whose pieces are added while its swarm runs. It is never complete: only its users know whether
// it will grow. Its methods may be called from any goroutine.
type Growing struct {
	*Transfer
	verifier *store.Verifier
	swarm    *swarm.Swarm
	source   bool
}

// Piece describes a piece of a [Growing]: its length in bytes, and its SHA-256.
type Piece struct {
	Size int
	Sum  [sha256.Size]byte
}

// Join joins the swarm of content that grows, with a store of the caller. The content id of the link is not the id of a
// manifest. The link may name peers and trackers. The node accepts peers once Join returns, which does not wait for
// the network.
//
// Nothing of the transfer is in the data directory: the next node with that directory does not know it. A stopped
// transfer does not start again, and the caller closes the store once it is removed. Has of the store may become
// false for a stored piece, see [Growing.Withhold].
func (n *Node) Join(link *proto.Link, st store.Store, opt JoinOptions) (*Growing, error) {
	if !link.Manifest.Defined() {
		return nil, errNoContent
	}
	g := &Growing{verifier: store.NewGrowing(link.Name, opt.Pieces, opt.PieceLength), source: opt.Source}
	t, err := n.add(addition{
		record: metadata.Record{Link: link, Seed: opt.Source, Added: time.Now()},
		setup:  setup{growing: g.verifier, open: func(*proto.Manifest) (store.Store, error) { return callers{st}, nil }},
		join:   func(*Transfer) error { return errors.New("the node has a transfer of this content already") },
	})
	if err != nil {
		return nil, err
	}
	g.Transfer = t
	err = t.state().run.await(n.ctx, func() bool {
		g.swarm = t.state().swarm
		return g.swarm != nil
	})
	if err != nil {
		_, removed := n.Remove(t, false)
		return nil, errors.Join(err, removed)
	}
	return g, nil
}

// callers is a store that its caller closes.
type callers struct{ store.Store }

func (callers) Close() error { return nil }

// Grow adds pieces to the content, from the number first on. They are fetched, or the source has stored
// them. Grow waits while the swarm is busy.
func (g *Growing) Grow(first int, pieces []Piece) {
	sizes := make([]int, len(pieces))
	for i, p := range pieces {
		g.verifier.Grow(first+i, p.Size, p.Sum)
		sizes[i] = p.Size
	}
	if !g.source {
		g.swarm.Grow(first, sizes)
		return
	}
	for i := range pieces {
		g.swarm.Gain(first + i)
	}
}

// Withhold withdraws count pieces, from the number first on, which the store has removed. The node does not fetch
// them again. Withhold waits while the swarm is busy.
func (g *Growing) Withhold(first, count int) {
	g.swarm.Withhold(proto.Range{First: uint32(first), Count: uint32(count)})
}
