package coded

import (
	"crypto/ed25519"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// node is a namedContent with a store in memory.
type node struct {
	*namedContent
	store *store.Disk
	// corrupt, if not nil, changes the blocks that the node makes, before it signs them.
	corrupt func(number uint32, payload []byte)
}

// newNode returns a node that has nothing, with the key of id.
func newNode(t testing.TB, c storetest.Content, k int, id byte) *node {
	t.Helper()
	coding, err := proto.NewCoding(c.Manifest, k)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{store: c.Store(t)}
	n.namedContent = newNamed(disk{newLayout(c.Manifest, coding), store.NewVerifier(c.Manifest), n.store}, []byte("swarm"),
		ed25519.NewKeyFromSeed(slices.Repeat([]byte{id}, ed25519.SeedSize)),
		func(proto.PeerID) bool { return true }, 2)
	return n
}

// newSource returns a node that has the content.
func newSource(t testing.TB, c storetest.Content, k int, id byte) *node {
	t.Helper()
	n := newNode(t, c, k, id)
	for i := range c.Manifest.Pieces() {
		n.fill(t, c, i)
	}
	return n
}

// fill stores a piece.
func (n *node) fill(t testing.TB, c storetest.Content, piece int) {
	t.Helper()
	if _, err := n.store.WriteAt(c.Piece(piece), c.Manifest.PieceOffset(piece)); err != nil {
		t.Fatal(err)
	}
	if err := n.store.Commit(piece); err != nil {
		t.Fatal(err)
	}
}

func (n *node) public() (k publicKey) {
	copy(k[:], n.key.Public().(ed25519.PublicKey))
	return k
}

// peer returns the id of the node.
func (n *node) peer() proto.PeerID { return peerOf(n.public()) }

// block returns a block as the node sends it.
func (n *node) block(t testing.TB, number uint32) (proto.Origin, []byte) {
	t.Helper()
	b := make([]byte, n.Coding.Block)
	o, err := n.load(b, number)
	if err != nil {
		t.Fatalf("block %d: %v", number, err)
	}
	if n.corrupt != nil && publicKey(o.Encoder) == n.public() {
		n.corrupt(number, b)
		o = n.sign(number, b)
	}
	return *o, b
}

// give has n take a block from another node.
func (n *node) give(t testing.TB, from *node, number uint32) outcome {
	t.Helper()
	o, b := from.block(t, number)
	out, err := n.take(number, from.peer(), &o, b)
	if err != nil {
		t.Fatalf("block %d: %v", number, err)
	}
	return out
}

// flip returns a function that changes the blocks that ok selects.
func flip(ok func(number uint32) bool) func(uint32, []byte) {
	return func(number uint32, b []byte) {
		if ok(number) {
			b[len(b)/3] ^= 1 + byte(number)
		}
	}
}

func always(uint32) bool { return true }

// mustHave checks that a node has the content, and no blocks in memory except in the
// cache.
func (n *node) mustHave(t testing.TB, c storetest.Content) {
	t.Helper()
	got := make([]byte, len(c.Data))
	if _, err := n.store.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, c.Data) {
		t.Error("the content differs")
	}
	if err := n.store.Publish(); err != nil {
		t.Error(err)
	}
	if len(n.active) != 0 {
		t.Errorf("%d generations are active", len(n.active))
	}
}

// liveBytes returns the memory of all blocks.
func (c *content) liveBytes() (sum int64) {
	seen := map[*byte]int{}
	note := func(b []byte) { seen[&b[0]] = len(b) }
	for _, g := range c.active {
		for _, b := range g.held {
			note(b.payload)
		}
		if g.decoder != nil {
			for i := range g.decoder.Rank() {
				note(g.decoder.Block(i).Payload)
			}
		}
	}
	for _, len := range seen {
		sum += int64(len)
	}
	for _, x := range c.encoders.cached {
		if e, err := x.load(); err == nil {
			sum += int64(len(e.blocks) * c.Coding.Block)
		}
	}
	return sum
}

// shuffled returns the blocks of a generation in random order.
func shuffled(c *namedContent, generation int, seed uint64) []uint32 {
	var out []uint32
	for _, name := range rand.New(rand.NewPCG(seed, 1)).Perm(c.Coding.Names()) {
		out = append(out, c.number(generation, name))
	}
	return out
}

// names returns the names of the nodes that have these keys.
func names(keys []publicKey, nodes map[string]*node) (out []string) {
	for _, k := range keys {
		name := "?" + string(binary.BigEndian.AppendUint32(nil, uint32(k[0])))
		for s, n := range nodes {
			if n.public() == k {
				name = s
			}
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
