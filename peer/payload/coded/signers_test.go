package coded

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/mobgrid/mob/peer/payload"
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

// TestFreshKeys has a node that passes for a relay sign each of its false blocks with a new key. It
// counts against that node, and after a few nothing of others is taken of it any more. What an honest
// node sends is.
func TestFreshKeys(t *testing.T) {
	const k = 4
	c := storetest.Make(t, 1, storetest.File("", 8<<20))
	source, n := newSource(t, c, k, 1), newNode(t, c, k, 2)
	misled, refusals := 0, 0
	for g := range n.Generations() {
		number := n.number(g, k)
		_, b := source.block(t, number)
		b[0] ^= 1
		o := source.signAs(number, number, b)
		out, err := n.take(number, "polluter", &o, b)
		if err != nil {
			t.Fatal(err)
		}
		if out.verdict == refused {
			refusals++
		}
		all := shuffled(n.namedContent, g, 1)
		for _, name := range append(all, all...) { // the second time to repair it
			out := n.give(t, source, name)
			for _, id := range out.misled {
				misled++
				if id != "polluter" {
					t.Errorf("%q is held to account", id)
				}
			}
			if out.verdict == refused {
				t.Fatal("a block of the source was refused")
			}
		}
	}
	n.mustHave(t, c)
	if most := maxIntroduced / polluterCost; misled != most || refusals != n.Generations()-most {
		t.Errorf("%d false blocks were taken and %d refused, want %d taken", misled, refusals, most)
	}
}

// TestUntrustedEncoder has a node get blocks of an encoder that it does not know: it keeps them for itself
// until a generation that has one is right, and then offers them in every generation.
func TestUntrustedEncoder(t *testing.T) {
	const k = 4
	c := storetest.Make(t, 1, storetest.File("", 2<<20))
	source, n := newSource(t, c, k, 1), newNode(t, c, k, 2)
	take := func(number uint32) outcome {
		o, b := source.block(t, number)
		out, err := n.take(number, "relay", &o, b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	other := n.number(1, 0)
	b := make([]byte, n.Coding.Block)
	for _, number := range []uint32{0, 1, 2, other} {
		if out := take(number); out.verdict != held || !out.withheld {
			t.Fatalf("block %d: %+v", number, out)
		}
		if _, err := n.load(b, number); !errors.Is(err, payload.ErrAbsent) {
			t.Errorf("block %d is passed on before its encoder is trusted: %v", number, err)
		}
	}
	out := take(3)
	if out.verdict != decoded || !out.withheld || !slices.Equal(out.trusted, []publicKey{source.key()}) {
		t.Errorf("%+v at the end of a generation", out)
	}
	if got := n.signedBy(out.trusted); !slices.Equal(got, []uint32{other}) {
		t.Errorf("%v are offered, want %d", got, other)
	}
	if o, err := n.load(b, other); err != nil || publicKey(o.Encoder) != source.key() {
		t.Errorf("a block of an encoder that is trusted is not passed on: %v", err)
	}
	if out := take(other + 1); out.verdict != held || out.withheld {
		t.Errorf("%+v of an encoder that is trusted", out)
	}
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
