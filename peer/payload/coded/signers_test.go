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
	copy(o.Signature[:], ed25519.Sign(private, proto.CodedStatement(n.swarm, n.Coding.K, number, sha256.Sum256(b))))
	return o
}

// TestFreshKeys lets a relay sign each of its corrupt blocks with a new key.
func TestFreshKeys(t *testing.T) {
	const k = 4
	c := storetest.Make(t, 1, storetest.File("", 8<<20))
	source, n := newSource(t, c, k, 1), newNode(t, c, k, 2)
	n.knows = func(id proto.PeerID) bool { return id == peerOf(source.public()) }
	for g := range n.Generations() {
		number := n.number(g, k)
		_, b := source.block(t, number)
		b[0] ^= 1
		o := source.signAs(number, number, b)
		if out, err := n.take(number, "polluter", &o, b); err != nil || out.verdict != rejected {
			t.Fatalf("verdict %d, %v", out.verdict, err)
		}
		for _, number := range shuffled(n.namedContent, g, 1) {
			o, b := source.block(t, number)
			if out, err := n.take(number, "relay", &o, b); err != nil || out.verdict == rejected {
				t.Fatalf("verdict %d of a block of the source, %v", out.verdict, err)
			}
		}
	}
	n.mustHave(t, c)
	if len(n.polluters) != 0 {
		t.Errorf("%d keys are kept", len(n.polluters))
	}
}

func TestEncoderMustBeKnown(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 2<<20))
	source, n := newSource(t, c, 4, 1), newNode(t, c, 4, 2)
	id := peerOf(source.public())
	for i, tt := range []struct {
		sender proto.PeerID
		known  bool
		want   verdict
	}{
		{"relay", false, rejected},
		{"relay", true, held},
		{id, false, held},
	} {
		n.knows = func(of proto.PeerID) bool { return tt.known && of == id }
		o, b := source.block(t, uint32(i))
		if out, err := n.take(uint32(i), tt.sender, &o, b); err != nil || out.verdict != tt.want {
			t.Errorf("case %d: verdict %d, %v", i, out.verdict, err)
		}
	}
}
