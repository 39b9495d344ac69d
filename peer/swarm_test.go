package peer

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// seedAndLink seeds a file of size bytes at n.
func seedAndLink(t testing.TB, n *Node, size int) (*Transfer, *proto.Link, []byte) {
	t.Helper()
	path, content := randomFile(t, size)
	seed, err := n.Seed(context.Background(), path, SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	link := seed.Link()
	return seed, link, content
}

func mustGet(t testing.TB, n *Node, link *proto.Link, out string) *Transfer {
	t.Helper()
	tr, err := n.Get(link, out, GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func mustWait(t testing.TB, tr *Transfer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := tr.Wait(ctx); err != nil {
		t.Fatalf("%v; status %+v", err, tr.Status())
	}
}

func mustEqual(t testing.TB, path string, content []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content) {
		t.Fatalf("%s differs from the source", path)
	}
}

func TestMobsFetchOncePerCluster(t *testing.T) {
	nodes := grid(t, 3, 3)
	_, link, content := seedAndLink(t, nodes[0], 48<<20)
	gets := fetch(t, nodes[1:], link)
	mustArrive(t, gets, content)
	wan := map[string]int64{}
	for i, g := range gets {
		wan[nodes[i+1].Cluster()] += g.Status().Traffic.WANIn
	}
	for cluster, n := range wan {
		limit := 1.05
		if cluster == nodes[0].Cluster() {
			limit = 0.05
		}
		if copies := float64(n) / float64(len(content)); copies > limit {
			t.Errorf("%.3f copies crossed into %s, want at most %.2f", copies, cluster, limit)
		}
	}
}
