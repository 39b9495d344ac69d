package peer

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/exchange"
	"github.com/mobgrid/mob/proto"
)

// codedAs is a link for a node that codes with another k, or with 0 not at all.
func codedAs(link *proto.Link, k int) *proto.Link {
	other := *link
	other.Coded = k
	return &other
}

// Nodes that code in different ways, or not at all, use plain pieces with each other.
func TestCodingsThatDiffer(t *testing.T) {
	for _, tt := range []struct{ seed, get int }{{16, 0}, {0, 16}, {16, 8}, {4, 64}} {
		t.Run(fmt.Sprintf("%d to %d", tt.seed, tt.get), func(t *testing.T) {
			a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
			_, link, content := seedCoded(t, a, 5<<20+70001, tt.seed)
			out := filepath.Join(t.TempDir(), "out")
			get := mustGet(t, b, codedAs(link, tt.get), out)
			mustWait(t, get)
			mustEqual(t, out, content)
			st := get.Status()
			if st.Coded != tt.get || st.Traffic.WANIn != int64(len(content)) || st.Duplicate != 0 {
				t.Errorf("coded by %d: %d bytes came, %d twice; the content has %d", st.Coded, st.Traffic.WANIn, st.Duplicate, len(content))
			}
		})
	}
}

// In a mob some may code and others not: each gets the content, of whomever.
func TestMobOfCodedAndPlainNodes(t *testing.T) {
	for _, seedK := range []int{16, 0} {
		t.Run(fmt.Sprint(seedK), func(t *testing.T) {
			nodes := grid(t, 2, 3)
			_, link, content := seedCoded(t, nodes[0], 12<<20+5, seedK)
			var gets []*Transfer
			for i, k := range []int{0, 16, 16, 0, 8} {
				gets = append(gets, fetch(t, nodes[i+1:i+2], codedAs(link, k))...)
			}
			mustArrive(t, gets, content)
			for _, g := range gets {
				if st := g.Status(); len(st.Liars) != 0 || st.Damaged != 0 {
					t.Errorf("%+v", st)
				}
			}
		})
	}
}

// bendPieces changes the parts of pieces that a node sends.
func bendPieces(_ *polluter, buf *exchange.Buffer, _ proto.Span) bool {
	buf.B[len(buf.B)-1] ^= 1
	return true
}

// What a plain node sends is nobody's word but its own: when it is wrong the node is
// thrown out, and nobody is named a liar: its disk may be to blame.
func TestPlainNodeThatSendsRubbish(t *testing.T) {
	d := newDirectory()
	var nodes []*Node
	for _, cluster := range []string{"A", "B", "B", "B"} {
		nodes = append(nodes, startNodeWith(t, cluster, t.TempDir(), d))
	}
	_, link, content := seedCoded(t, nodes[0], 8<<20, 16)
	bad := nodes[1]
	p := pollute(t, bad, bendPieces)
	mustArrive(t, fetch(t, []*Node{bad}, codedAs(link, 0)), content)
	p.on.Store(true)
	gets := fetch(t, nodes[2:], link)
	mustArrive(t, gets, content)
	mustNameNobody(t, gets)
	if p.sent.Load() == 0 {
		t.Error("nobody asked the node for anything")
	}
}
