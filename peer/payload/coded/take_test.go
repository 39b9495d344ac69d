package coded

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// Blocks may come in any order and twice, and any k that are linearly independent decode.
func TestAnyBlocksDecode(t *testing.T) {
	for _, tt := range []struct {
		k    int
		size int64
	}{
		{4, 1 << 20}, {2, 256<<10 + 1}, {16, 3<<20 + 777}, {3, 3 * 256 << 10},
		{64, 5 << 20}, {4, 1}, {4, 64 << 10}, {5, 2<<20 + 65537},
	} {
		c := storetest.Make(t, uint64(tt.k), storetest.File("", tt.size))
		source, n := newSource(t, c, tt.k, 1), newNode(t, c, tt.k, 2)
		for g := range n.Generations() {
			came := 0
			for _, number := range shuffled(n.namedContent, g, uint64(tt.k)) {
				out := n.give(t, source, number)
				switch {
				case n.Has(g) && out.verdict != decoded && out.verdict != duplicate:
					t.Fatalf("k %d: verdict %d of a complete generation", tt.k, out.verdict)
				case out.verdict == held || out.verdict == decoded:
					came++
				}
				if again := n.give(t, source, number); again.verdict != duplicate && again.verdict != useless {
					t.Fatalf("k %d: verdict %d of a duplicate", tt.k, again.verdict)
				}
			}
			if came != n.Blocks(g) || !n.Has(g) {
				t.Errorf("k %d, generation %d: %d blocks were news, want %d", tt.k, g, came, n.Blocks(g))
			}
		}
		n.mustHave(t, c)
	}
}

func TestBlocksArePassedOn(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 2<<20))
	source, relay, last := newSource(t, c, 16, 1), newNode(t, c, 16, 2), newNode(t, c, 16, 3)
	for g := range source.Generations() {
		numbers := shuffled(source.namedContent, g, 7)
		for _, number := range numbers[:15] {
			if out := relay.give(t, source, number); out.verdict == useless {
				continue
			}
			o, b := relay.block(t, number)
			want, b2 := source.block(t, number)
			if o != want || !slices.Equal(b, b2) {
				t.Fatal("the relay changed a block")
			}
			if out := last.give(t, relay, number); out.verdict != held {
				t.Fatalf("verdict %d", out.verdict)
			}
		}
		if _, err := relay.load(make([]byte, relay.Coding.Block), numbers[31]); !errors.Is(err, payload.ErrAbsent) {
			t.Errorf("a block that is not there: %v", err)
		}
		for _, number := range numbers[15:] {
			last.give(t, source, number)
		}
	}
	last.mustHave(t, c)
}

// A node that has decoded a generation makes every block of it as the source does.
func TestDecodedGenerationIsEncoded(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 1<<20+5))
	source, n := newSource(t, c, 16, 1), newNode(t, c, 16, 2)
	for g := range source.Generations() {
		for name := range n.Coding.Names() {
			n.give(t, source, n.number(g, n.Coding.Names()-1-name))
		}
		for name := range n.Coding.Names() {
			o, b := n.block(t, n.number(g, name))
			_, want := source.block(t, n.number(g, name))
			if !slices.Equal(b, want) || publicKey(o.Encoder) != n.public() {
				t.Fatalf("block %d of generation %d differs", name, g)
			}
		}
	}
	n.mustHave(t, c)
}

func TestBadBlocks(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 1<<20+5))
	source, n := newSource(t, c, 16, 1), newNode(t, c, 16, 2)
	o, b := source.block(t, 20)
	beyond := n.number(n.Generations(), 0)
	take := func(number uint32, data []byte) (outcome, error) { return n.take(number, "", &o, data) }
	for name, take := range map[string]func() (outcome, error){
		"generation beyond the end": func() (outcome, error) { return take(beyond, b) },
		"greatest number":           func() (outcome, error) { return take(1<<32-1, b) },
		"short payload":             func() (outcome, error) { return take(20, b[1:]) },
		"no payload":                func() (outcome, error) { return take(20, nil) },
		"long payload":              func() (outcome, error) { return take(20, append(slices.Clone(b), 0)) },
	} {
		if out, err := take(); err != nil || out.verdict != invalid || out.polluters != nil {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if n.liveBytes() != 0 {
		t.Errorf("%d bytes are kept of bad blocks", n.liveBytes())
	}
	if _, err := n.load(b, beyond); !errors.Is(err, payload.ErrAbsent) {
		t.Errorf("a generation that is not there: %v", err)
	}
	size := uint32(len(b))
	for _, sp := range []proto.Span{
		{Piece: beyond, Length: size},
		{Piece: 1<<32 - 1, Length: size},
		{Piece: 1, Begin: 1, Length: size},
		{Piece: 1, Length: 1},
	} {
		if n.valid(sp) {
			t.Errorf("%+v is valid", sp)
		}
	}
	if !n.valid(proto.Span{Piece: 20, Length: size}) {
		t.Error("a block is not valid")
	}
}

// forgery makes a block whose signature is invalid.
type forgery func() (proto.Origin, []byte)

// forgeries returns forgeries by what is wrong with them.
func forgeries(t *testing.T, c storetest.Content, source *node, number uint32) map[string]forgery {
	o, b := source.block(t, number)
	elsewhere := newSource(t, c, 16, 1)
	elsewhere.swarm = []byte("another")
	return map[string]forgery{
		"another number": func() (proto.Origin, []byte) { return source.block(t, number+1) },
		"changed payload": func() (proto.Origin, []byte) {
			bad := slices.Clone(b)
			bad[0] ^= 1
			return o, bad
		},
		"no signature": func() (proto.Origin, []byte) { return proto.Origin{Encoder: o.Encoder}, b },
		"another's signature": func() (proto.Origin, []byte) {
			return proto.Origin{Encoder: [32]byte{1}, Signature: o.Signature}, b
		},
		"another swarm":      func() (proto.Origin, []byte) { return elsewhere.block(t, number) },
		"larger generations": func() (proto.Origin, []byte) { return newSource(t, c, 32, 1).block(t, number) },
	}
}

// TestForgeriesAreNotPassedOn checks that the sender of a forged block is at fault, not the encoder in it.
func TestForgeriesAreNotPassedOn(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 4<<20))
	source := newSource(t, c, 16, 1)
	for name, forge := range forgeries(t, c, source, 3) {
		n := newNode(t, c, 16, 2)
		n.give(t, source, 5)
		o, b := forge()
		if out, err := n.take(3, "m", &o, b); err != nil || out.verdict != held {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if _, err := n.load(make([]byte, len(b)), 3); !errors.Is(err, errForged) {
			t.Errorf("%s is forwarded: %v", name, err)
		}
		out, err := n.dropForged(3)
		if err != nil || out.verdict != purged ||
			!slices.Equal(out.faults, []fault{{3, "m"}}) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if got := n.liveBytes(); got != int64(len(b)) || n.polluters[source.public()] {
			t.Errorf("%s: %d bytes are left of one block", name, got)
		}
		if out, err := n.dropForged(5); err != nil || out.verdict != ignored || len(out.faults) > 0 {
			t.Errorf("a block that is right: %+v, %v", out, err)
		}
	}
}

// TestForgeriesArePurged checks that a generation that fails its hashes drops only its forged blocks.
func TestForgeriesArePurged(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 4<<20))
	source := newSource(t, c, 16, 1)
	for name, forge := range forgeries(t, c, source, 20) {
		n := newNode(t, c, 16, 2)
		o, b := forge()
		if _, err := n.take(20, "m", &o, b); err != nil {
			t.Fatal(err)
		}
		var out outcome
		number := uint32(31)
		for ; out.verdict != purged && out.verdict != decoded; number-- {
			out = n.give(t, source, number)
		}
		if _, right := source.block(t, 20); slices.Equal(b, right) {
			if out.verdict != decoded || n.polluters[source.public()] {
				t.Errorf("%s, of a block that is right: %+v", name, out)
			}
			continue
		}
		if out.verdict != purged || out.polluters != nil ||
			!slices.Equal(out.faults, []fault{{20, "m"}}) {
			t.Errorf("%s: %+v", name, out)
		}
		for ; out.verdict != decoded; number-- {
			out = n.give(t, source, number)
		}
		if n.polluters[source.public()] {
			t.Error("the encoder is named")
		}
	}
}

// Verified pieces count for their generation.
func TestPiecesThatAreThereCount(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 1<<20))
	source, n := newSource(t, c, 16, 1), newNode(t, c, 16, 2)
	n.fill(t, c, 1)
	n.fill(t, c, 3)
	came := 0
	for _, number := range shuffled(n.namedContent, 0, 3) {
		if v := n.give(t, source, number).verdict; v == held || v == decoded {
			came++
		}
	}
	if came != 8 {
		t.Errorf("%d blocks were news, want 8", came)
	}
	n.mustHave(t, c)
}

func TestDamagedPiecesAreNotEncoded(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 2<<20))
	source := newNode(t, c, 16, 1)
	for i := range c.Manifest.Pieces() {
		b := slices.Clone(c.Piece(i))
		if i == 2 {
			b[7] ^= 1
		}
		if _, err := source.store.WriteAt(b, c.Manifest.PieceOffset(i)); err != nil {
			t.Fatal(err)
		}
		if err := source.store.Commit(i); err != nil {
			t.Fatal(err)
		}
	}
	var damaged *damagedError
	b := make([]byte, source.Coding.Block)
	for _, number := range []uint32{0, 8, 30} {
		if _, err := source.load(b, number); !errors.As(err, &damaged) || damaged.Piece != 2 {
			t.Errorf("block %d: %v", number, err)
		}
	}
	if _, err := source.load(b, source.number(1, 0)); err != nil {
		t.Errorf("the other generation: %v", err)
	}
	// A generation is not gathered from it either.
	if err := source.store.Forget(0); err != nil {
		t.Fatal(err)
	}
	honest := newSource(t, c, 16, 2)
	o, b := honest.block(t, 0)
	if _, err := source.take(0, "", &o, b); !errors.As(err, &damaged) || damaged.Piece != 2 {
		t.Errorf("a block beside a damaged piece: %v", err)
	}
	if err := source.store.Forget(2); err != nil {
		t.Fatal(err)
	}
	source.forget(0)
	if out := source.give(t, honest, 0); out.verdict != held {
		t.Errorf("verdict %d once the damage is known", out.verdict)
	}
}

// TestMemoryIsBounded gathers several generations at a time.
func TestMemoryIsBounded(t *testing.T) {
	const live = 4
	c := storetest.Make(t, 1, storetest.File("", 16<<20))
	source, n := newSource(t, c, 16, 1), newNode(t, c, 16, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	generation := int64(16 * n.Coding.Block)
	var order [][]uint32
	for g := range n.Generations() {
		order = append(order, shuffled(n.namedContent, g, uint64(g)))
	}
	for len(order) > 0 {
		i := rng.IntN(min(live, len(order)))
		n.give(t, source, order[i][0])
		if g, _ := n.of(order[i][0]); n.Has(g) {
			order = slices.Delete(order, i, i+1)
		} else {
			order[i] = order[i][1:]
		}
		if got := n.liveBytes(); got > (live+2)*generation {
			t.Fatalf("%d bytes are in memory, and at most %d may be", got, (live+2)*generation)
		}
	}
	n.mustHave(t, c)
	if len(n.encoders.cached) != 2 {
		t.Errorf("%d generations are cached, want 2", len(n.encoders.cached))
	}
}

func TestLiveGenerations(t *testing.T) {
	for _, tt := range []struct {
		c    proto.Coding
		want int
	}{
		{proto.Coding{K: 16, Block: 64 << 10}, 32},
		{proto.Coding{K: 64, Block: 64 << 10}, 8},
		{proto.Coding{K: 64, Block: 256 << 10}, 4},
		{proto.Coding{K: 255, Block: 256 << 10}, 4},
	} {
		if got := Live(tt.c); got != tt.want {
			t.Errorf("%+v: %d generations, want %d", tt.c, got, tt.want)
		}
	}
}

func TestChooseK(t *testing.T) {
	for _, tt := range []struct {
		want  float64
		piece uint32 // KiB
		k     int
	}{
		{1, 256, 8}, {168, 256, 64}, {17.9, 256, 17}, {17, 512, 16}, {17, 4 << 10, 16}, {30, 16 << 10, 64}, {0, 256, 8},
	} {
		m := &proto.Manifest{PieceLength: tt.piece << 10, Entries: []proto.Entry{{Kind: proto.File, Size: 1 << 30}}}
		if k, err := nearestK(m, tt.want); err != nil || k != tt.k {
			t.Errorf("%v with pieces of %d KiB: %d, %v, want %d", tt.want, tt.piece, k, err, tt.k)
		}
	}
	huge := &proto.Manifest{PieceLength: 256 << 10, Entries: []proto.Entry{{Kind: proto.File, Size: 1 << 40}}}
	if k, err := nearestK(huge, 16); err == nil {
		t.Errorf("k %d for too many blocks", k)
	}
}
