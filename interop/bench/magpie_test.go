package bench

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// TestMagPIeTree checks that a message reaches all nodes of a tree, and that the broadcast fails when one is killed.
func TestMagPIeTree(t *testing.T) {
	t.Parallel()
	nodes := []*netns.Node{{Cluster: "A"}, {Cluster: "A", Index: 1}, {Cluster: "B"}, {Cluster: "B", Index: 1}, {Cluster: "B", Index: 2}}
	parents := []int{0, 0, 0, 2, 2}
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		message := slices.Repeat([]byte("message "), 1<<16)
		m := &magpie{Site{Case: &Case{Size: int64(len(message))}, Source: nodes[0], Content: filepath.Join(dir, "content"), Dir: dir}, map[*netns.Node]*edge{}}
		for i, n := range nodes[1:] {
			in, out := net.Pipe()
			m.edges[n] = &edge{nodes[parents[i+1]], out, in}
		}
		if err := os.WriteFile(m.site.Content, message, 0o600); err != nil {
			t.Fatal(err)
		}
		if killed {
			if err := m.Kill(nodes[2]); err != nil {
				t.Fatal(err)
			}
		}
		var mu sync.Mutex
		complete := 0
		err := m.Fetch(t.Context(), func(n *netns.Node) {
			mu.Lock()
			defer mu.Unlock()
			complete++
			if got, err := os.ReadFile(m.Copy(n)); err != nil || !slices.Equal(got, message) {
				t.Errorf("%s: %d bytes, %v", n.Name(), len(got), err)
			}
		})
		if !killed && (err != nil || complete != 4) || killed && (err == nil || complete == 4) {
			t.Errorf("killed %v: %d of 4 complete, %v", killed, complete, err)
		}
		if _, err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
