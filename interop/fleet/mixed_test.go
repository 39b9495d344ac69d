package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
)

// TestMixedSwarm has two nodes and two stock clients in each of four clusters, of all
// kinds that are installed.
func TestMixedSwarm(t *testing.T) {
	m := Mixed{System: System{Bin: bin}, Percent: 50}
	for _, c := range stock.All() {
		if err := c.Installed(); err != nil {
			t.Log("without it: ", err)
			continue
		}
		m.Clients = append(m.Clients, c)
	}
	if len(m.Clients) == 0 {
		t.Skip("no stock client is installed")
	}
	r := runWasteful(t, fast(t, "4x4", 12e6, bench.Kills{}), m)
	for _, c := range r.Copies {
		t.Logf("%s: %.2f copies", c.Cluster, c.Copies)
	}
	t.Logf("%s: %.1fs", m.Name(), r.Last)
}

// TestMixedSwarmSurvivesDeath kills a node and a client on the way.
func TestMixedSwarmSurvivesDeath(t *testing.T) {
	m := Mixed{System: System{Bin: bin}, Percent: 50, Clients: []*stock.Client{stock.Aria2()}}
	needs(t, m.Clients...)
	b := fast(t, "2x3", 6e6, bench.Kills{Percent: 40, After: time.Second})
	killed := map[bench.Receiver]bool{}
	for !killed[bench.Receiver{Cluster: "B", Index: 0}] || !killed[bench.Receiver{Cluster: "B", Index: 2}] {
		clear(killed)
		b.Seed++ // draws others
		for _, v := range b.Victims() {
			killed[v.Receiver] = true
		}
	}
	if r := runWasteful(t, b, m); len(r.Killed) != 2 {
		t.Errorf("%v are killed", r.Killed)
	}
}

// TestMixedSplit says who of a cluster are stock clients: its last ones.
func TestMixedSplit(t *testing.T) {
	var all []*netns.Node
	for _, name := range strings.Fields("A1 A2 A3 B0 B1 B2 B3 C0") {
		r, err := bench.ParseReceiver(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &netns.Node{Cluster: r.Cluster, Index: r.Index})
	}
	for percent, want := range map[float64]string{
		1:   "",
		25:  "A3 B3",
		50:  "A2 A3 B2 B3 C0",
		75:  "A2 A3 B1 B2 B3 C0",
		100: "A1 A2 A3 B0 B1 B2 B3 C0",
	} {
		own, guests := Mixed{Percent: percent}.split(all)
		var names []string
		for _, n := range guests {
			names = append(names, bench.Receiver{Cluster: n.Cluster, Index: n.Index}.String())
		}
		if got := strings.Join(names, " "); got != want || len(own)+len(guests) != len(all) {
			t.Errorf("%g%%: %q and %d more, want %q", percent, got, len(own), want)
		}
	}
}
