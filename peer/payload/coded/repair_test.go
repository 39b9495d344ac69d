package coded

import (
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// swarm has a node request the blocks that it needs from other nodes, at random.
type swarm struct {
	t     *testing.T
	c     storetest.Content
	n     *node
	nodes map[string]*node
	rng   *rand.Rand
	found []string // the polluters that were found
	// corrupts reports which blocks each node corrupts, and sent has the nodes that sent one.
	corrupts map[string]func(number uint32) bool
	sent     map[string]bool
	alone    map[int]string // by piece that is repaired: the node that all its blocks are requested of
}

func newSwarm(t *testing.T, k int, seed uint64, nodes map[string]func(number uint32) bool) *swarm {
	c := storetest.Make(t, seed, storetest.File("", 2<<20))
	s := &swarm{
		t:        t,
		c:        c,
		n:        newNode(t, c, k, 0xff),
		nodes:    map[string]*node{},
		rng:      rand.New(rand.NewPCG(seed, 1)),
		corrupts: nodes,
		sent:     map[string]bool{},
		alone:    map[int]string{},
	}
	for _, name := range sortedNames(nodes) {
		n := newSource(t, c, k, byte(len(s.nodes)+1))
		if corrupts := nodes[name]; corrupts != nil {
			n.corrupt = flip(corrupts)
		}
		s.nodes[name] = n
	}
	return s
}

func sortedNames[V any](m map[string]V) (out []string) {
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// request has the node take a block of a node that is not known to be a polluter.
func (s *swarm) request(number uint32) outcome {
	all := slices.DeleteFunc(sortedNames(s.nodes), func(name string) bool { return slices.Contains(s.found, name) })
	from := all[s.rng.IntN(len(all))]
	g, name := s.n.of(number)
	piece := s.n.pieceOf(g, name)
	if f := s.alone[piece]; slices.Contains(all, f) {
		from = f
	}
	out := s.n.give(s.t, s.nodes[from], number)
	delete(s.alone, piece)
	if out.verdict == held && s.n.active[g].state == repairing {
		s.alone[piece] = from
	}
	taken := slices.Contains([]verdict{held, polluted, pieceStored, pieceFailed, decoded}, out.verdict)
	if corrupts := s.corrupts[from]; taken && corrupts != nil && corrupts(number) {
		s.sent[from] = true
	}
	s.found = append(s.found, names(out.polluters, s.nodes)...)
	if out.polluters != nil {
		if _, err := s.n.dropPolluted(out.polluters); err != nil {
			s.t.Fatal(err)
		}
	}
	return out
}

// fetch requests blocks of a generation until it is decoded.
func (s *swarm) fetch(g int) {
	todo := shuffled(s.n.namedContent, g, s.rng.Uint64())
	for len(todo) > 0 {
		number := todo[0]
		out := s.request(number)
		switch out.verdict {
		case rejected:
			continue
		case polluted:
			todo = nil
			for name := range s.n.Blocks(g) {
				if n := s.n.number(g, name); !slices.Contains(out.numbers, n) {
					todo = append(todo, n)
				}
			}
			continue
		case pieceFailed:
			todo = append(todo[1:], out.numbers...)
			continue
		case decoded:
			return
		}
		todo = todo[1:]
	}
	s.t.Fatalf("generation %d ran out of blocks", g)
}

// run fetches the content and returns the polluters that were found. It checks that each of them sent a
// corrupt block that was taken, and that no other node did.
func (s *swarm) run() []string {
	s.t.Helper()
	for g := range s.n.Generations() {
		s.fetch(g)
	}
	s.n.mustHave(s.t, s.c)
	slices.Sort(s.found)
	if want := sortedNames(s.sent); !slices.Equal(s.found, want) {
		s.t.Errorf("%q were found, want %q", s.found, want)
	}
	if got := names(slices.Collect(maps.Keys(s.n.polluters)), s.nodes); !slices.Equal(got, s.found) {
		s.t.Errorf("%q are kept as polluters, want %q", got, s.found)
	}
	return s.found
}

// TestPollutersAreFound lets nodes sign corrupt blocks, always or at times, of all kinds or only blocks that
// cannot be verified.
func TestPollutersAreFound(t *testing.T) {
	seldom := func(number uint32) bool { return number%5 == 3 }
	codedOnly := func(number uint32) bool { return number%32 >= 16 }
	sourceOnly := func(number uint32) bool { return number%32 < 16 }
	for name, nodes := range map[string]map[string]func(uint32) bool{
		"nobody":             {"a": nil, "b": nil},
		"half":               {"a": nil, "polluter": always},
		"one of four":        {"a": nil, "b": nil, "c": nil, "polluter": always},
		"at times":           {"a": nil, "polluter": seldom},
		"coded blocks only":  {"a": nil, "b": nil, "polluter": codedOnly},
		"source blocks only": {"a": nil, "b": nil, "polluter": sourceOnly},
		"two of three":       {"a": nil, "polluter": always, "polluter 2": always},
		"two of four":        {"a": nil, "b": nil, "polluter": codedOnly, "polluter 2": seldom},
	} {
		t.Run(name, func(t *testing.T) {
			all, seeds := map[string]bool{}, uint64(6)
			if testing.Short() {
				seeds = 3 // hashing and coding take most of this package's time
			}
			for seed := range seeds {
				for _, name := range newSwarm(t, 16, seed, nodes).run() {
					all[name] = true
				}
			}
			lie := 0
			for _, corrupts := range nodes {
				if corrupts != nil {
					lie++
				}
			}
			if len(all) != lie {
				t.Errorf("%q were found in %d runs, want %d", sortedNames(all), seeds, lie)
			}
		})
	}
}

func TestPollutedGenerationIsDropped(t *testing.T) {
	s := newSwarm(t, 16, 1, map[string]func(uint32) bool{"a": nil, "polluter": func(n uint32) bool { return n == 17 }})
	a, polluter := s.nodes["a"], s.nodes["polluter"]
	s.n.give(t, polluter, 17)
	for name := 31; ; name-- {
		if name == 17 {
			continue
		}
		out := s.n.give(t, a, uint32(name))
		if out.verdict == polluted {
			break
		}
		if out.verdict != held && out.verdict != useless {
			t.Fatalf("verdict %d of block %d", out.verdict, name)
		}
	}
	if s.n.liveBytes() != 0 {
		t.Errorf("%d bytes are kept of corrupt blocks", s.n.liveBytes())
	}
	if _, err := s.n.load(make([]byte, s.n.Coding.Block), 17); err != payload.ErrAbsent {
		t.Errorf("a corrupt block is forwarded: %v", err)
	}
	if out := s.n.give(t, a, 30); out.verdict != ignored {
		t.Errorf("verdict %d of a coded block while source blocks are needed", out.verdict)
	}
	for name := range 3 {
		if out := s.n.give(t, a, uint32(name)); out.verdict != held {
			t.Errorf("verdict %d of a source block", out.verdict)
		}
	}
	out := s.n.give(t, a, 3)
	if out.verdict != pieceStored || !slices.Equal(out.numbers, []uint32{0, 1, 2, 3}) {
		t.Errorf("%+v at the end of a piece", out)
	}
	if _, err := s.n.load(make([]byte, s.n.Coding.Block), 2); err != nil {
		t.Errorf("a block of a piece that is stored: %v", err)
	}
	for name := 4; name < 15; name++ {
		s.n.give(t, a, uint32(name))
	}
	if out := s.n.give(t, a, 15); out.verdict != decoded || !slices.Equal(out.polluters, []publicKey{polluter.public()}) {
		t.Errorf("%+v at the end of a generation", out)
	}
	if out := s.n.give(t, polluter, 32); out.verdict != rejected {
		t.Errorf("verdict %d of a polluter's block", out.verdict)
	}
}

func TestPolluterBlocksAreDropped(t *testing.T) {
	s := newSwarm(t, 16, 1, map[string]func(uint32) bool{"a": nil, "polluter": always})
	a, polluter := s.nodes["a"], s.nodes["polluter"]
	for _, number := range []uint32{32, 40, 50} {
		s.n.give(t, polluter, number)
		s.n.give(t, a, number+1)
	}
	dropped, err := s.n.dropPolluted([]publicKey{polluter.public()})
	if err != nil || !slices.Equal(dropped, []uint32{32, 40, 50}) {
		t.Errorf("%v, %v", dropped, err)
	}
	if got := s.n.liveBytes(); got != 3*int64(s.n.Coding.Block) {
		t.Errorf("%d bytes are left of three blocks", got)
	}
	var out outcome
	for name := 0; out.verdict != decoded; name++ {
		out = s.n.give(t, a, s.n.number(1, name))
	}
}

// noted is a swarm that records suspicions and errors.
type noted struct {
	payload.Swarm
	suspected []uint32
	failed    error
}

func (*noted) Post(mob.Event, payload.Peer)  {}
func (s *noted) Suspect(c payload.Suspicion) { s.suspected = append(s.suspected, c.Piece) }
func (s *noted) Fail(err error)              { s.failed = err }

// TestDamagedPieceWhilePolluterIsExposed changes a stored piece on the disk before the blocks of a polluter are
// dropped: the piece is checked, the swarm does not end, and the blocks of other generations are dropped.
func TestDamagedPieceWhilePolluterIsExposed(t *testing.T) {
	s := newSwarm(t, 16, 1, map[string]func(uint32) bool{"polluter": always})
	polluter := s.nodes["polluter"]
	for g := range 2 {
		s.n.give(t, polluter, s.n.number(g, 20))
	}
	if _, err := s.n.store.WriteAt(make([]byte, s.c.Manifest.PieceSize(2)), s.c.Manifest.PieceOffset(2)); err != nil {
		t.Fatal(err)
	}
	if err := s.n.store.Commit(2); err != nil {
		t.Fatal(err)
	}
	var log noted
	cfg := payload.Config{Swarm: &log, Log: slog.New(slog.DiscardHandler)}
	c := &Codec{base: base{cfg, s.n.content}, content: s.n.namedContent}
	c.expose(nil, 0, []publicKey{polluter.public()})
	if log.failed != nil || !slices.Equal(log.suspected, []uint32{2}) {
		t.Errorf("the swarm failed with %v, pieces %d are suspected", log.failed, log.suspected)
	}
	if held := s.n.active[1].held; len(held) > 0 {
		t.Errorf("%d blocks of the polluter are held", len(held))
	}
}

func TestFailedPieceIsFetchedAgain(t *testing.T) {
	s := newSwarm(t, 16, 1, map[string]func(uint32) bool{"a": nil, "polluter": always})
	a, polluter := s.nodes["a"], s.nodes["polluter"]
	s.n.give(t, polluter, 17)
	for name := 31; name == 17 || s.n.give(t, a, uint32(name)).verdict != polluted; name-- {
		continue
	}
	for _, name := range []uint32{0, 2, 3} {
		s.n.give(t, a, name)
	}
	out := s.n.give(t, polluter, 1)
	if out.verdict != pieceFailed || out.polluters != nil || !slices.Equal(out.numbers, []uint32{0, 1, 2, 3}) {
		t.Errorf("%+v at the end of a corrupt piece", out)
	}
	if b := s.n.liveBytes(); b != 0 {
		t.Errorf("%d bytes of a corrupt piece are kept", b)
	}
	for name := range 16 {
		out = s.n.give(t, a, uint32(name))
	}
	if out.verdict != decoded || !slices.Equal(out.polluters, []publicKey{polluter.public()}) {
		t.Errorf("%+v at the end of a generation", out)
	}
}

// TestBytesBeyondTheEnd changes the padding, which is in no piece: the encoder is not named, and blocks made
// of its block are valid.
func TestBytesBeyondTheEnd(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 1<<20+100))
	source, n := newSource(t, c, 16, 1), newNode(t, c, 16, 2)
	source.corrupt = func(_ uint32, b []byte) { b[len(b)-1] ^= 1 }
	last := n.number(1, 0)
	if out := n.give(t, source, last); out.verdict != decoded {
		t.Fatalf("verdict %d", out.verdict)
	}
	source.corrupt = nil
	for name := range 3 {
		_, got := n.block(t, last+uint32(name))
		if _, want := source.block(t, last+uint32(name)); !slices.Equal(got, want) {
			t.Errorf("block %d is not what it should be", name)
		}
	}
}

// TestTamperingRelay checks that a node that changes forwarded blocks is at fault, not their encoder.
func TestTamperingRelay(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 1<<20))
	source, n := newSource(t, c, 16, 1), newNode(t, c, 16, 2)
	o, b := source.block(t, 30)
	b[100] ^= 1
	if out, err := n.take(30, "relay", &o, b); err != nil || out.verdict != held {
		t.Errorf("%+v, %v", out, err)
	}
	out := n.give(t, source, 0)
	for number := uint32(1); out.verdict == held; number++ {
		out = n.give(t, source, number)
	}
	if out.verdict != purged || !slices.Equal(out.faults, []fault{{30, "relay"}}) {
		t.Errorf("%+v", out)
	}
	if n.polluters[source.public()] {
		t.Error("the encoder is named")
	}
}
