package coded

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// signAs signs a block with another key.
func (n *node) signAs(key, number uint32, b []byte) (o proto.Origin) {
	seed := slices.Repeat([]byte{9}, ed25519.SeedSize)
	binary.BigEndian.PutUint32(seed, key)
	private := ed25519.NewKeyFromSeed(seed)
	copy(o.Encoder[:], private.Public().(ed25519.PublicKey))
	copy(o.Signature[:], ed25519.Sign(private, proto.CodedStatement(n.cfg.swarm, n.Coding.K, number, sha256.Sum256(b))))
	return o
}

// TestFreshKeys has a node sign each of its false blocks with a new key. After a few polluters that it
// introduced nothing of it is taken any more, and then it is to blame; what an honest node sends is.
func TestFreshKeys(t *testing.T) {
	const k, generations = 4, 32
	c := storetest.Make(t, 1, storetest.File("", generations<<20))
	source, n := newSource(t, c, k, 1), newNode(t, c, k, 2)
	keys := uint32(0)
	polluters, refusals := 0, 0
	for round := range 1000 {
		g := round % generations
		number := n.number(g, round/generations%n.Coding.Names())
		// The next block of the polluter, as if another node had made it.
		_, b := source.block(t, number)
		b[0] ^= 1
		keys++
		o := source.signAs(keys, number, b)
		out, err := n.take(number, "polluter", &o, b)
		if err != nil {
			t.Fatal(err)
		}
		switch out.verdict {
		case invalid:
			if polluters == 0 || refusals < maxRefused {
				t.Errorf("to blame after %d polluters and %d refusals", polluters, refusals)
			}
			t.Logf("%d polluters, %d refusals", polluters, refusals)
			return
		case refused:
			refusals++
		}
		all := shuffled(n.namedContent, g, 1)
		for _, name := range append(all, all...) { // the second time to repair it
			out := n.give(t, source, name)
			polluters += len(out.polluters)
			if out.verdict == refused {
				t.Fatal("a block of the source was refused")
			}
		}
	}
	t.Errorf("%d polluters, %d refusals, and it is not to blame", polluters, refusals)
}

// TestManyEncoders has a node forward right blocks of more encoders than it may introduce at a time: all
// of them are taken, since generations prove them right.
func TestManyEncoders(t *testing.T) {
	const k, generations = 8, 16
	c := storetest.Make(t, 1, storetest.File("", generations<<20))
	source, n := newSource(t, c, k, 1), newNode(t, c, k, 2)
	for g := range n.Generations() {
		for name := range n.Blocks(g) {
			number := n.number(g, name)
			_, b := source.block(t, number)
			o := source.signAs(number, number, b)
			out, err := n.take(number, proto.PeerID("relay"), &o, b)
			if err != nil || out.verdict != held && out.verdict != decoded {
				t.Fatalf("generation %d, name %d: verdict %d, %v", g, name, out.verdict, err)
			}
		}
	}
	n.mustHave(t, c)
}
