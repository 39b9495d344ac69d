package netns

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestNewRaisesNeighborLimits checks that a grid has room for its neighbors, and that it leaves a
// larger limit of the machine alone.
func TestNewRaisesNeighborLimits(t *testing.T) {
	const last = "/proc/sys/net/ipv4/neigh/default/gc_thresh3"
	read := func() int {
		t.Helper()
		text, err := os.ReadFile(last)
		if err != nil {
			t.Skip(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	read()
	grid := func() {
		t.Helper()
		newGrid(t, Config{Clusters: Clusters(1)})
	}
	grid()
	least := read()
	if want := neighborLimits[len(neighborLimits)-1]; least < want {
		t.Errorf("limit of %d, want at least %d", least, want)
	}
	set := func(n int) {
		t.Helper()
		if err := writeSysctl("net/ipv4/neigh/default/gc_thresh3", strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
	set(2 * least)
	defer set(least)
	if grid(); read() != 2*least {
		t.Errorf("a limit of %d became %d", 2*least, read())
	}
}
