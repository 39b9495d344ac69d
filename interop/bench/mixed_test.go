package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// TestMixedSwarm makes two daemons and two stock clients in each of four clusters, with every
// client that is installed.
func TestMixedSwarm(t *testing.T) {
	t.Parallel()
	needsGrid(t)
	m := Mixed{Mob: Mob{Bin: bin(t)}, Percent: 50}
	for _, c := range stock.All() {
		if err := c.Missing(); err != nil {
			t.Log("left out: ", err)
			continue
		}
		m.Clients = append(m.Clients, c)
	}
	if len(m.Clients) == 0 {
		t.Skip("no stock client is installed")
	}
	r := mustRunWasteful(t, fastGrid(t, "4x4", 12e6, Kills{}), m)
	for _, c := range r.Copies {
		t.Logf("%s: %.2f copies", c.Cluster, c.Copies)
	}
	t.Logf("%s: %.1fs", m.Name(), r.Last)
}

// TestMixedSwarmSurvivesDeath kills a daemon and a client on the way.
func TestMixedSwarmSurvivesDeath(t *testing.T) {
	t.Parallel()
	needsGrid(t)
	m := Mixed{Mob: Mob{Bin: bin(t)}, Percent: 50, Clients: []*stock.Client{stock.Find("aria2")}}
	needsClients(t, m.Clients...)
	b := fastGrid(t, "2x3", 6e6, Kills{Percent: 40, After: time.Second})
	killed := map[Receiver]bool{}
	for !killed[Receiver{"B", 0}] || !killed[Receiver{"B", 2}] {
		clear(killed)
		b.Seed++ // draws other victims
		for _, v := range b.Victims() {
			killed[v.Receiver] = true
		}
	}
	if r := mustRunWasteful(t, b, m); len(r.Killed) != 2 {
		t.Errorf("%v are killed", r.Killed)
	}
}

// TestMixedSplit checks that the last receivers of each cluster run stock clients.
func TestMixedSplit(t *testing.T) {
	var all []*netns.Node
	for _, name := range strings.Fields("A1 A2 A3 B0 B1 B2 B3 C0") {
		r, err := ParseReceiver(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &netns.Node{Cluster: r.Cluster, Path: r.Cluster, Index: r.Index})
	}
	for percent, want := range map[float64]string{
		1:   "",
		25:  "A3 B3",
		50:  "A2 A3 B2 B3 C0",
		75:  "A2 A3 B1 B2 B3 C0",
		100: "A1 A2 A3 B0 B1 B2 B3 C0",
	} {
		daemons, clients := Mixed{Percent: percent}.split(all)
		var names []string
		for _, n := range clients {
			names = append(names, n.Name())
		}
		if got := strings.Join(names, " "); got != want || len(daemons)+len(clients) != len(all) {
			t.Errorf("%g%%: %q and %d daemons, want %q", percent, got, len(daemons), want)
		}
	}
}
