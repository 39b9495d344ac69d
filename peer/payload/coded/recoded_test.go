package coded

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// recodingNode is a recodedContent with a store in memory.
type recodingNode struct {
	*recodedContent
	store   *store.Disk
	content storetest.Content
}

// newRecodingNode returns a node that has nothing.
func newRecodingNode(t testing.TB, c storetest.Content, k int, s proto.Strategy) *recodingNode {
	t.Helper()
	coding, err := proto.NewCoding(c.Manifest, k)
	coding.Strategy = s
	if err != nil {
		t.Fatal(err)
	}
	n := &recodingNode{store: c.Store(t), content: c}
	n.recodedContent = newRecoded(disk{newLayout(c.Manifest, coding), store.NewVerifier(c.Manifest), n.store})
	return n
}

// fill stores a piece.
func (n *recodingNode) fill(t testing.TB, piece int) {
	t.Helper()
	if _, err := n.store.WriteAt(n.content.Piece(piece), n.Manifest.PieceOffset(piece)); err != nil {
		t.Fatal(err)
	}
	if err := n.store.Commit(piece); err != nil {
		t.Fatal(err)
	}
}

// newRecodingSource returns a node that has the content.
func newRecodingSource(t testing.TB, c storetest.Content, k int, s proto.Strategy) *recodingNode {
	t.Helper()
	n := newRecodingNode(t, c, k, s)
	for i := range c.Manifest.Pieces() {
		n.fill(t, i)
	}
	return n
}

// block returns a block as the node sends it.
func (n *recodingNode) block(t testing.TB, generation, block int) []byte {
	t.Helper()
	b := make([]byte, n.frame(generation))
	if err := n.make(b, generation, block); err != nil {
		t.Fatalf("generation %d, block %d: %v", generation, block, err)
	}
	return b
}

// give adds a block, and decodes its generation if it is full.
func (n *recodingNode) give(t testing.TB, generation int, b []byte) (out outcome, good bool) {
	t.Helper()
	out, err := n.take(generation, b)
	if err == nil && out.verdict == full {
		good, err = n.decode(generation)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, good
}

// feed lets a node gather a generation from the nodes in turn, and returns the number of blocks.
func feed(t testing.TB, to *recodingNode, generation int, from ...*recodingNode) (blocks int) {
	t.Helper()
	for blocks < 3*to.Blocks(generation)+20 {
		b := from[blocks%len(from)].block(t, generation, -1)
		blocks++
		if _, good := to.give(t, generation, b); good {
			return blocks
		}
	}
	t.Fatalf("generation %d is not decoded after %d blocks", generation, blocks)
	return 0
}

// verify checks that the node has the content.
func (n *recodingNode) verify(t testing.TB) {
	t.Helper()
	for i := range n.Manifest.Pieces() {
		got := make([]byte, n.Manifest.PieceSize(i))
		_, err := n.store.ReadAt(got, n.Manifest.PieceOffset(i))
		if err != nil || !n.store.Has(i) || !bytes.Equal(got, n.content.Piece(i)) {
			t.Fatalf("piece %d is not there, or not right: %v", i, err)
		}
	}
}

const k = 40

// shortContent has a short last generation and a short last block.
func shortContent(t testing.TB) storetest.Content {
	return storetest.Make(t, 1, storetest.File("", 2*k*proto.MinCodedBlock+5*proto.MinCodedBlock+777))
}

func TestRecodedHops(t *testing.T) {
	c := shortContent(t)
	source := newRecodingSource(t, c, k, proto.Sequential)
	a, b := newRecodingNode(t, c, k, proto.Sequential), newRecodingNode(t, c, k, proto.Sequential)
	if source.Generations() != 3 || source.Blocks(2) != 6 {
		t.Fatalf("%d generations, the last of %d blocks", source.Generations(), source.Blocks(2))
	}
	for g := range source.Generations() {
		notUsed, done := 0, false
		for blocks := 0; !done; blocks++ {
			if blocks > 3*k {
				t.Fatalf("generation %d: not decoded two hops away", g)
			}
			a.give(t, g, source.block(t, g, -1))
			var out outcome
			if out, done = b.give(t, g, a.block(t, g, -1)); out.verdict == useless {
				notUsed++
			}
		}
		if notUsed > 4 {
			t.Errorf("generation %d: %d blocks were useless", g, notUsed)
		}
	}
	b.verify(t)
	if n := feed(t, newRecodingNode(t, c, k, proto.Sequential), 1, a, b, source); n > k+3 {
		t.Errorf("%d blocks of three nodes for a generation of %d", n, k)
	}
}

func TestRecodedPlain(t *testing.T) {
	c := shortContent(t)
	source := newRecodingSource(t, c, k, proto.RandomBlock)
	a, b := newRecodingNode(t, c, k, proto.RandomBlock), newRecodingNode(t, c, k, proto.RandomBlock)
	for g := range source.Generations() {
		if err := a.make(make([]byte, a.frame(g)), g, 0); !errors.Is(err, payload.ErrAbsent) {
			t.Fatalf("a block that is not there: %v", err)
		}
		for j := range source.Blocks(g) {
			if out, _ := a.give(t, g, source.block(t, g, j)); out.block != j || out.verdict != held && out.verdict != full {
				t.Fatalf("block %d: %+v", j, out)
			}
			b.give(t, g, a.block(t, g, j))
		}
	}
	b.verify(t)
	dense := make([]byte, b.frame(0))
	dense[0], dense[1] = 1, 1
	if out, _ := newRecodingNode(t, c, k, proto.RandomBlock).give(t, 0, dense); out.verdict != invalid {
		t.Errorf("a combination among plain blocks: %+v", out)
	}
}

func TestRecodedPolluted(t *testing.T) {
	c := shortContent(t)
	source, n := newRecodingSource(t, c, k, proto.Sequential), newRecodingNode(t, c, k, proto.Sequential)
	bad := source.block(t, 0, -1)
	bad[len(bad)-1] ^= 1
	n.give(t, 0, bad)
	for i := 0; ; i++ {
		if out, good := n.give(t, 0, source.block(t, 0, -1)); good || i > 2*k {
			t.Fatalf("good %v after %d blocks, one of them false", good, i)
		} else if out.verdict == full {
			break
		}
	}
	if n.store.Count() > 0 || n.liveBytes() != 0 {
		t.Fatalf("%d pieces of a false generation are stored, %d bytes kept", n.store.Count(), n.liveBytes())
	}
	if err := n.make(make([]byte, n.frame(0)), 0, -1); !errors.Is(err, payload.ErrAbsent) {
		t.Errorf("a block of what was thrown away: %v", err)
	}
	for g := range n.Generations() {
		feed(t, n, g, source)
	}
	n.verify(t)
}

// TestRecodedInvalid takes blocks that no node sends.
func TestRecodedInvalid(t *testing.T) {
	c := shortContent(t)
	source, n := newRecodingSource(t, c, k, proto.Sequential), newRecodingNode(t, c, k, proto.Sequential)
	good := source.block(t, 0, -1)
	zero := append(make([]byte, k), good[k:]...)
	for name, tt := range map[string]struct {
		generation int
		data       []byte
		want       verdict
	}{
		"a good one":              {0, good, held},
		"once more":               {0, good, useless},
		"no coefficients":         {0, good[k:], invalid},
		"zero coefficients":       {0, zero, invalid},
		"one byte short":          {0, good[1:], invalid},
		"one byte long":           {0, append(bytes.Clone(good), 0), invalid},
		"nothing":                 {0, nil, invalid},
		"for the last generation": {2, good, invalid},
		"no generation":           {3, good, invalid},
		"a generation before all": {-1, good, invalid},
		"a generation far beyond": {1 << 40, good, invalid},
	} {
		if name == "once more" {
			n.give(t, 0, good)
		}
		m := n
		if tt.want == held {
			m = newRecodingNode(t, c, k, proto.Sequential)
		}
		if out, _ := m.give(t, tt.generation, tt.data); out.verdict != tt.want {
			t.Errorf("%s: %+v, want %d", name, out, tt.want)
		}
	}
	if out, _ := source.give(t, 0, good); out.verdict != ignored {
		t.Errorf("a block of a complete generation: %+v", out)
	}
}

// TestRecodedMemory gathers many generations at a time: the oldest are dropped, and memory
// is bounded.
func TestRecodedMemory(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 40*4*proto.MinCodedBlock))
	source, n := newRecodingSource(t, c, 4, proto.Sequential), newRecodingNode(t, c, 4, proto.Sequential)
	generation := int64(4 * proto.MinCodedBlock)
	var dropped []int
	for g := range n.Generations() {
		if out, _ := n.give(t, g, source.block(t, g, -1)); out.dropped >= 0 {
			dropped = append(dropped, out.dropped)
		}
		if b := n.liveBytes(); b > maxGathered*generation {
			t.Fatalf("%d bytes for %d generations", b, g+1)
		}
		if b := source.liveBytes(); b > maxKept*generation {
			t.Fatalf("%d bytes for making blocks", b)
		}
	}
	if len(dropped) != n.Generations()-maxGathered || dropped[0] != 0 {
		t.Errorf("dropped %v", dropped)
	}
	for g := range n.Generations() {
		feed(t, n, g, source)
		if b := n.liveBytes(); b > (maxGathered+maxKept)*generation {
			t.Fatalf("%d bytes", b)
		}
	}
	n.verify(t)
	if b := n.liveBytes(); b != maxKept*generation {
		t.Errorf("%d bytes at the end", b)
	}
}

// TestRecodedDecodingKept checks that a generation that is being decoded is not reported as dropped when too many are active: it may
// be complete before the report.
func TestRecodedDecodingKept(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 40*4*proto.MinCodedBlock))
	source, n := newRecodingSource(t, c, 4, proto.Sequential), newRecodingNode(t, c, 4, proto.Sequential)
	for g := range maxGathered {
		n.give(t, g, source.block(t, g, -1))
	}
	n.lookup(0).state = decoding
	if out, _ := n.give(t, maxGathered, source.block(t, maxGathered, -1)); out.dropped >= 0 || n.lookup(0) == nil {
		t.Errorf("generation %d was dropped", out.dropped)
	}
}

// TestRecodedDamaged makes no blocks of a piece that changed on disk.
func TestRecodedDamaged(t *testing.T) {
	c := shortContent(t)
	n := newRecodingSource(t, c, k, proto.Sequential)
	n.block(t, 0, -1)
	if err := n.store.Forget(0); err != nil {
		t.Fatal(err)
	}
	if _, err := n.store.WriteAt([]byte("other"), 0); err != nil {
		t.Fatal(err)
	}
	if err := n.store.Commit(0); err != nil {
		t.Fatal(err)
	}
	n.forget(0)
	var damaged *damagedError
	if err := n.make(make([]byte, n.frame(0)), 0, -1); !errors.As(err, &damaged) || damaged.Piece != 0 {
		t.Errorf("a block of damaged pieces: %v", err)
	}
	n.block(t, 1, -1)
}

// FuzzRecodedTake takes what peers may send. No piece that fails its hash may be stored.
func FuzzRecodedTake(f *testing.F) {
	c := storetest.Make(f, 1, storetest.File("", 6*proto.MinCodedBlock))
	source := newRecodingSource(f, c, 4, proto.Sequential)
	f.Add(0, []byte{1, 2, 3, 4}, []byte{5, 6, 7, 8})
	f.Add(1, []byte{1, 2}, []byte{0, 0})
	f.Add(9, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, generation int, one, two []byte) {
		n := newRecodingNode(t, c, 4, proto.Sequential)
		for _, v := range [][]byte{one, two} {
			n.give(t, generation, append(bytes.Clone(v), make([]byte, proto.MinCodedBlock)...))
			if g := generation & 1; generation == g && len(v) == n.Blocks(g) {
				n.give(t, g, source.block(t, g, -1))
			}
		}
		for i := range n.Manifest.Pieces() {
			if !n.store.Has(i) {
				continue
			}
			got := make([]byte, n.Manifest.PieceSize(i))
			if _, err := n.store.ReadAt(got, n.Manifest.PieceOffset(i)); err != nil || !bytes.Equal(got, c.Piece(i)) {
				t.Fatalf("piece %d is stored, and not right", i)
			}
		}
	})
}
