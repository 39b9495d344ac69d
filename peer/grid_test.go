package peer

import (
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// grid starts as many nodes in each of some clusters, A, B and so on, that find each
// other. Those of A are the first.
func grid(t testing.TB, clusters, members int) (nodes []*Node) {
	t.Helper()
	d := newDirectory()
	for c := range clusters {
		for range members {
			nodes = append(nodes, startNodeWith(t, string(rune('A'+c)), t.TempDir(), d))
		}
	}
	return nodes
}

// fetch has nodes get a content.
func fetch(t testing.TB, nodes []*Node, link *proto.Link) (gets []*Transfer) {
	t.Helper()
	for _, n := range nodes {
		gets = append(gets, mustGet(t, n, link, filepath.Join(t.TempDir(), "out")))
	}
	return gets
}

// mustArrive waits for gets, and compares what came.
func mustArrive(t testing.TB, gets []*Transfer, content []byte) {
	t.Helper()
	for _, g := range gets {
		mustWait(t, g)
		mustEqual(t, g.Status().Root, content)
		t.Logf("%v: %+v, %d of no use", g.Status().Elapsed, g.Status().Traffic, g.Status().Duplicate)
	}
}

// mustNameNobody wants no node to be called a liar.
func mustNameNobody(t testing.TB, gets []*Transfer) {
	t.Helper()
	for _, g := range gets {
		if liars := g.Status().Liars; len(liars) > 0 {
			t.Errorf("%q are named", liars)
		}
	}
}
