package peer

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer/exchange"
	"github.com/mobgrid/mob/proto"
)

// polluter is the exchange of a node that bends the blocks which it sends, once it is
// told to.
type polluter struct {
	exchange.Exchange
	swarm *swarm
	bend  func(s *swarm, buf *exchange.Buffer, sp proto.Span) bool // says whether it did
	*pollution
}

// pollution is what a polluter is told, and has done.
type pollution struct {
	on   atomic.Bool
	sent atomic.Int64
	to   sync.Map // how many blocks were bent for whom: *atomic.Int64 by name
}

// Frame implements [exchange.Exchange].
func (p *polluter) Frame(to exchange.Peer, sp proto.Span) (*exchange.Buffer, error) {
	buf, err := p.Exchange.Frame(to, sp)
	if err == nil && p.on.Load() && p.bend(p.swarm, buf, sp) {
		p.sent.Add(1)
		n, _ := p.to.LoadOrStore(to.Name(), new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
	}
	return buf, err
}

// pollute makes a node bend what it sends, once that is on.
func pollute(n *Node, bend func(s *swarm, buf *exchange.Buffer, sp proto.Span) bool) *pollution {
	p := new(pollution)
	n.prepared = func(s *swarm) { s.form.Exchange = &polluter{s.form.Exchange, s, bend, p} }
	return p
}

// keyOf is a node's key.
func keyOf(n *Node) ed25519.PrivateKey {
	raw, err := n.host.Peerstore().PrivKey(n.host.ID()).Raw()
	if err != nil {
		panic(err)
	}
	return raw
}

// lieAbout changes every block that the node makes itself, and signs it.
func lieAbout(s *swarm, buf *exchange.Buffer, sp proto.Span) bool {
	key := keyOf(s.node)
	if !slices.Equal(buf.B[9:41], key.Public().(ed25519.PublicKey)) {
		return false
	}
	data := buf.B[proto.CodedHeader:]
	data[len(data)/2] ^= 1
	statement := proto.CodedStatement(s.t.link().Manifest.Bytes(), s.form.Coding.K, sp.Piece, sha256.Sum256(data))
	copy(buf.B[41:], ed25519.Sign(key, statement))
	return true
}

// tamper changes every block that others have made.
func tamper(s *swarm, buf *exchange.Buffer, _ proto.Span) bool {
	key := keyOf(s.node)
	if slices.Equal(buf.B[9:41], key.Public().(ed25519.PublicKey)) {
		return false
	}
	buf.B[len(buf.B)-1] ^= 1
	return true
}

// TestPollutingMember has a member that signs false blocks: everybody gets the
// content, names it and nobody else.
func TestPollutingMember(t *testing.T) {
	d := newDirectory()
	var nodes []*Node
	for c := range 2 {
		for range 3 {
			nodes = append(nodes, startNodeWith(t, fmt.Sprintf("C%d", c), t.TempDir(), d))
		}
	}
	_, link, content := seedCoded(t, nodes[0], 12<<20, 16)
	// The liar is whole before the others come, so that it is asked for much.
	liar := nodes[1]
	p := pollute(liar, lieAbout)
	mustWait(t, mustGet(t, liar, link, filepath.Join(t.TempDir(), "out")))
	p.on.Store(true)
	var gets []*Transfer
	var outs []string
	for _, n := range nodes[2:] {
		outs = append(outs, filepath.Join(t.TempDir(), "out"))
		gets = append(gets, mustGet(t, n, link, outs[len(outs)-1]))
	}
	named := 0
	for i, g := range gets {
		mustWait(t, g)
		mustEqual(t, outs[i], content)
		liars := g.Status().Liars
		// What comes last may be of no use, and is not looked at then.
		if n, ok := p.to.Load(nodes[i+2].host.ID().String()); ok && n.(*atomic.Int64).Load() > 4 && len(liars) == 0 {
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
	d := newDirectory()
	var nodes []*Node
	for c := range 2 {
		for range 2 {
			nodes = append(nodes, startNodeWith(t, fmt.Sprintf("C%d", c), t.TempDir(), d))
		}
	}
	_, link, content := seedCoded(t, nodes[0], 24<<20, 64)
	relay := nodes[2]
	out := filepath.Join(t.TempDir(), "out")
	p := pollute(relay, tamper)
	p.on.Store(true)
	get := mustGet(t, relay, link, out)
	var gets []*Transfer
	var outs []string
	for _, n := range []*Node{nodes[1], nodes[3]} {
		outs = append(outs, filepath.Join(t.TempDir(), "out"))
		gets = append(gets, mustGet(t, n, link, outs[len(outs)-1]))
	}
	for i, g := range gets {
		mustWait(t, g)
		mustEqual(t, outs[i], content)
		if liars := g.Status().Liars; len(liars) > 0 {
			t.Errorf("%q are named", liars)
		}
	}
	mustWait(t, get)
	mustEqual(t, out, content)
	if p.sent.Load() == 0 {
		t.Error("nobody asked the relay for what others made")
	}
}
