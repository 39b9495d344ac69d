package payload_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// node is a codec with a store in memory and a swarm that records what is posted.
type node struct {
	payload.Codec
	t     *testing.T
	id    proto.PeerID
	store *store.Disk
	// A node's swarm, as a test sees it.
	events     []mob.Event
	suspicions []payload.Suspicion
}

func (n *node) ID() proto.PeerID                        { return n.id }
func (n *node) Post(ev mob.Event, _ payload.Peer)       { n.events = append(n.events, ev) }
func (n *node) Knows(proto.PeerID) bool                 { return true }
func (n *node) Suspect(s payload.Suspicion)             { n.suspicions = append(n.suspicions, s) }
func (n *node) Fail(err error)                          { n.t.Errorf("%s failed: %v", n.id, err) }
func (n *node) take() (evs []mob.Event)                 { evs, n.events = n.events, nil; return evs }
func has(evs []mob.Event, ok func(mob.Event) bool) bool { return slices.ContainsFunc(evs, ok) }

// kind is a codec to test.
type kind struct {
	new func(t *testing.T, cfg payload.Config) payload.Codec
	// blocks lists the blocks of the content, in order of pieces.
	blocks func(c payload.Codec, m *proto.Manifest) []proto.Span
}

func kinds() map[string]kind {
	const k = 4
	coding := func(t *testing.T, cfg payload.Config, s proto.Strategy) proto.Coding {
		c, err := coded.CodingOf(&proto.Link{Coded: k, Strategy: s}, cfg.Verifier.Manifest())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	permutation := func(s proto.Strategy) kind {
		return kind{
			new: func(t *testing.T, cfg payload.Config) payload.Codec {
				return coded.NewPermutation(cfg, coding(t, cfg, s))
			},
			blocks: func(c payload.Codec, _ *proto.Manifest) (all []proto.Span) {
				sizes, _ := c.(*coded.Permutation).Generations()
				for g, n := range sizes {
					for i := range n + 8 { // random combinations may be linearly dependent
						all = append(all, c.(payload.Pusher).Push(mob.Push{Generation: g, Block: i % n, Round: 7}))
					}
				}
				return all
			},
		}
	}
	return map[string]kind{
		"plain": {
			new: func(_ *testing.T, cfg payload.Config) payload.Codec { return payload.NewPlain(cfg) },
			blocks: func(_ payload.Codec, m *proto.Manifest) (all []proto.Span) {
				for i := range m.Pieces() {
					for at := 0; at < m.PieceSize(i); at += 64 << 10 {
						n := min(64<<10, m.PieceSize(i)-at)
						all = append(all, proto.Span{Piece: uint32(i), Begin: uint32(at), Length: uint32(n)})
					}
				}
				return all
			},
		},
		"coded": {
			new: func(t *testing.T, cfg payload.Config) payload.Codec {
				key, _, err := crypto.GenerateEd25519Key(rand.Reader)
				if err != nil {
					t.Fatal(err)
				}
				c, err := coded.New(cfg, coding(t, cfg, proto.ReceiverDriven), []byte("swarm"), key)
				if err != nil {
					t.Fatal(err)
				}
				return c
			},
			blocks: func(_ payload.Codec, m *proto.Manifest) (all []proto.Span) {
				names := uint32(2 * k)
				generation := int64(k * proto.MinCodedBlock)
				for i := range uint32((m.Length()+generation-1)/generation) * names {
					all = append(all, proto.Span{Piece: i ^ 1, Length: proto.MinCodedBlock})
				}
				return all
			},
		},
		"permutation":       permutation(proto.Sequential),
		"permutation plain": permutation(proto.RandomBlock),
	}
}

func newNode(t *testing.T, k kind, c storetest.Content, id proto.PeerID) *node {
	n := &node{t: t, id: id, store: c.Store(t)}
	n.Codec = k.new(t, payload.Config{
		Swarm:    n,
		Verifier: store.NewVerifier(c.Manifest),
		Store:    n.store,
		Counters: new(payload.Counters),
		Log:      slog.New(slog.DiscardHandler),
	})
	return n
}

// newSource returns a node that has the content.
func newSource(t *testing.T, k kind, c storetest.Content) *node {
	n := newNode(t, k, c, "source")
	for i := range c.Manifest.Pieces() {
		if _, err := n.store.WriteAt(c.Piece(i), c.Manifest.PieceOffset(i)); err != nil {
			t.Fatal(err)
		}
		if err := n.store.Commit(i); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// frame returns a block as the node sends it.
func (n *node) frame(sp proto.Span) []byte {
	n.t.Helper()
	buf, err := n.Encode(n, sp)
	if err != nil {
		n.t.Fatalf("%+v: %v", sp, err)
	}
	defer buf.Release()
	return bytes.Clone(buf.B)
}

// receive takes a frame through all steps.
func (n *node) receive(from *node, frame []byte) {
	n.t.Helper()
	r, h := bytes.NewReader(frame), new(payload.Header)
	if err := n.ReadHeader(r, h); err != nil {
		n.t.Fatal(err)
	}
	b := &payload.Block{From: from, Span: h.Span, Origin: h.Origin, Buf: payload.GetBuffer(int(h.Span.Length))}
	if _, err := io.ReadFull(r, b.Buf.B); err != nil || r.Len() > 0 {
		n.t.Fatalf("payload of %d bytes: %v, %d bytes left", len(b.Buf.B), err, r.Len())
	}
	if err := n.Write(b); err != nil {
		n.t.Fatal(err)
	}
	n.Verify(b)
	b.Buf.Release()
}

// complete checks that the node has the content.
func (n *node) complete(c storetest.Content) {
	n.t.Helper()
	got := make([]byte, len(c.Data))
	_, err := n.store.ReadAt(got, 0)
	if pieces := n.store.Count(); err != nil || !bytes.Equal(got, c.Data) || pieces != c.Manifest.Pieces() {
		n.t.Errorf("%d of %d pieces are stored: %v", pieces, c.Manifest.Pieces(), err)
	}
}

func TestCodecs(t *testing.T) {
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			c := storetest.Make(t, 1, storetest.File("", 3*4*proto.MinCodedBlock+777))
			source, relay, sink := newSource(t, k, c), newNode(t, k, c, "relay"), newNode(t, k, c, "sink")
			blocks := k.blocks(source.Codec, c.Manifest)

			if _, err := relay.Encode(source, blocks[0]); !errors.Is(err, payload.ErrAbsent) {
				t.Errorf("a block that is not there: %v", err)
			}
			if err := relay.ReadHeader(bytes.NewReader(make([]byte, 200)), new(payload.Header)); err == nil {
				t.Error("zeros are a header")
			}
			_, pushes := source.Codec.(payload.Pusher)
			if source.Valid(blocks[0]) == pushes {
				t.Errorf("a block is valid: %v, and is pushed: %v", !pushes, pushes)
			}
			if source.Valid(proto.Span{Piece: 1 << 20, Length: 64 << 10}) {
				t.Error("a block beyond the end is valid")
			}

			for _, sp := range blocks {
				relay.receive(source, source.frame(sp))
			}
			relay.complete(c)
			if has(relay.take(), rejected) {
				t.Error("a valid block was rejected")
			}
			for _, sp := range blocks {
				sink.receive(relay, relay.frame(sp))
			}
			sink.complete(c)
		})
	}
}

// rejected reports whether an event is about damaged blocks.
func rejected(ev mob.Event) bool {
	switch ev.(type) {
	case mob.Failed, mob.Polluted:
		return true
	}
	return false
}

// TestDamagedBlock checks that no codec stores a part of a damaged block.
func TestDamagedBlock(t *testing.T) {
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			c := storetest.Make(t, 1, storetest.File("", 4*proto.MinCodedBlock))
			source, sink := newSource(t, k, c), newNode(t, k, c, "sink")
			blocks := k.blocks(source.Codec, c.Manifest)
			for i := 0; !has(sink.events, rejected); i++ {
				frame := source.frame(blocks[i])
				if i == 0 {
					frame[len(frame)-1] ^= 1
				}
				sink.receive(source, frame)
			}
			if sink.store.Has(0) {
				t.Error("a damaged piece is stored")
			}
			for range 2 { // what was dropped is sent again
				for _, sp := range blocks {
					sink.receive(source, source.frame(sp))
				}
			}
			sink.complete(c)
		})
	}
}

// TestForget checks that a node has no blocks of a damaged piece until it receives it again.
func TestForget(t *testing.T) {
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			c := storetest.Make(t, 1, storetest.File("", 4*proto.MinCodedBlock))
			source, n := newSource(t, k, c), newSource(t, k, c)
			blocks := k.blocks(source.Codec, c.Manifest)
			n.frame(blocks[0]) // which may keep its generation in memory
			if err := n.store.Forget(0); err != nil {
				t.Fatal(err)
			}
			n.Forget(0)
			lost := func(ev mob.Event) bool { return ev == mob.Lost{Piece: 0} || ev == mob.Polluted{Generation: 0} }
			if !has(n.take(), lost) {
				t.Error("the loss is not posted")
			}
			if _, err := n.Encode(source, blocks[0]); !errors.Is(err, payload.ErrAbsent) {
				t.Errorf("a block of a piece that is forgotten: %v", err)
			}
			for _, sp := range blocks {
				n.receive(source, source.frame(sp))
			}
			n.complete(c)
			n.frame(blocks[0])
		})
	}
}
