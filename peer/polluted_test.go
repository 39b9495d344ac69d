package peer

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// polluter is the codec of a node that bends the blocks which it sends, once it is told to.
type polluter struct {
	payload.Codec
	link *proto.Link
	key  ed25519.PrivateKey
	bend bender
	*pollution
}

// bender changes a block before it is sent, and says whether it did.
type bender func(p *polluter, buf *payload.Buffer, sp proto.Span) bool

// pollution is what a polluter is told, and has done.
type pollution struct {
	on   atomic.Bool
	sent atomic.Int64
	to   sync.Map // how many blocks were bent for whom: *atomic.Int64 by id
}

// Encode implements [payload.Codec].
func (p *polluter) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	buf, err := p.Codec.Encode(to, sp)
	if err == nil && p.on.Load() && p.bend(p, buf, sp) {
		p.sent.Add(1)
		n, _ := p.to.LoadOrStore(to.ID(), new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
	}
	return buf, err
}

// pollute makes a node bend what it sends, once that is on.
func pollute(t testing.TB, n *Node, bend bender) *pollution {
	t.Helper()
	key, err := n.host.Peerstore().PrivKey(n.host.ID()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	p := new(pollution)
	n.faults.Codec = func(link *proto.Link, c payload.Codec) payload.Codec { return &polluter{c, link, key, bend, p} }
	return p
}

// made says whether the node itself made a coded block.
func (p *polluter) made(buf *payload.Buffer) bool {
	return slices.Equal(buf.B[9:41], p.key.Public().(ed25519.PublicKey))
}

// lieAbout changes every block that the node makes itself, and signs it.
func lieAbout(p *polluter, buf *payload.Buffer, sp proto.Span) bool {
	if !p.made(buf) {
		return false
	}
	data := buf.B[proto.CodedHeader:]
	data[len(data)/2] ^= 1
	statement := proto.CodedStatement(p.link.Manifest.Bytes(), p.link.Coded, sp.Piece, sha256.Sum256(data))
	copy(buf.B[41:], ed25519.Sign(p.key, statement))
	return true
}

// tamper changes every block that others have made.
func tamper(p *polluter, buf *payload.Buffer, _ proto.Span) bool {
	if p.made(buf) {
		return false
	}
	buf.B[len(buf.B)-1] ^= 1
	return true
}

// TestPollutingMember has a member that signs false blocks: everybody gets the
// content, names it and nobody else.
func TestPollutingMember(t *testing.T) {
	nodes := grid(t, 2, 3)
	_, link, content := seedCoded(t, nodes[0], 12<<20, 16)
	// The liar is whole before the others come, so that it is asked for much.
	liar := nodes[1]
	p := pollute(t, liar, lieAbout)
	mustArrive(t, fetch(t, []*Node{liar}, link), content)
	p.on.Store(true)
	gets := fetch(t, nodes[2:], link)
	mustArrive(t, gets, content)
	named := 0
	for i, g := range gets {
		liars := g.Status().Liars
		// What comes last may be of no use, and is not looked at then.
		if n, ok := p.to.Load(proto.PeerID(nodes[i+2].host.ID())); ok && n.(*atomic.Int64).Load() > 4 && len(liars) == 0 {
			t.Errorf("the liar sent %d blocks to a node that does not name it", n.(*atomic.Int64).Load())
		}
		for _, name := range liars {
			named++
			if name != liar.host.ID().String() {
				t.Errorf("%s is named, and is honest", name)
			}
		}
	}
	t.Logf("%d false blocks, named by %d of %d", p.sent.Load(), named, len(gets))
	if p.sent.Load() == 0 {
		t.Fatal("nobody asked the liar for anything")
	}
	if named == 0 {
		t.Error("nobody named the liar")
	}
}

// TestTamperingRelay has a member that changes the blocks which it passes on: they are
// not taken, and who made them is not blamed.
func TestTamperingRelay(t *testing.T) {
	nodes := grid(t, 2, 2)
	_, link, content := seedCoded(t, nodes[0], 24<<20, 64)
	relay := nodes[2]
	p := pollute(t, relay, tamper)
	p.on.Store(true)
	gets := fetch(t, []*Node{relay, nodes[1], nodes[3]}, link)
	mustArrive(t, gets, content)
	mustNameNobody(t, gets)
	if p.sent.Load() == 0 {
		t.Error("nobody asked the relay for what others made")
	}
}
