package bench

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/mob/plan"
)

// planned is a system whose transfers follow a plan.
func planned(t testing.TB, algorithm string) Mob {
	return Mob{Bin: bin(t), Options: []string{PlanOption + algorithm}}
}

// TestPlannedRacks runs plans on two sites of two racks of four. Each piece enters each site once,
// and each rack of it once.
func TestPlannedRacks(t *testing.T) {
	t.Parallel()
	const size, most = 12e6, 1.1 // the handshakes of small transfers count too
	for _, algorithm := range []string{"edmonds", "chain"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			needsGrid(t)
			c := testCase(t, "2x(2x4)", size)
			for i := range c.Clusters {
				c.Clusters[i].Uplink = 12.5 * netns.MBps
			}
			r := mustRun(t, newBench(t, c), planned(t, algorithm))
			for _, k := range append(r.Copies, r.RackCopies...) {
				least := 1.0
				if k.Cluster == "A" || k.Cluster == "A/r1" {
					least = 0
				}
				if k.Copies < least || k.Copies > most {
					t.Errorf("%v; want %.0f to %.1f", k, least, most)
				}
			}
			t.Logf("%v, %v", r, r.RackCopies)
		})
	}
}

// plannedFleet is daemons that are to download content with a plan.
type plannedFleet struct {
	sinks []*Daemon
	link  string
}

// startPlanned seeds content with a chain, on a grid of 3 and 3 nodes whose names are those of their
// hosts. It starts all daemons but the absent one.
func startPlanned(t *testing.T, size int64, inPlan func(host string) bool, absent string) *plannedFleet {
	t.Helper()
	fleet, names := newFleet(t, netns.Fast(), 3, 3)
	fleet.startTracker(t, fleet.Grid.Node("A", 0))
	c := testCase(t, "2x3", size)
	top := c.Topology(netns.TCPShare)
	fleet.Hosts = map[string]string{}
	for _, h := range top.Hosts {
		fleet.Hosts[h.Name] = h.Name
	}
	top.Hosts = slices.DeleteFunc(top.Hosts, func(h plan.Host) bool { return !inPlan(h.Name) })
	file := filepath.Join(t.TempDir(), "topology.toml")
	if err := os.WriteFile(file, []byte(writeTopology(top)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := new(plannedFleet)
	source := fleet.startDaemon(t, fleet.Grid.Node("A", 0))
	for _, name := range names {
		for _, n := range fleet.Grid.Nodes(name) {
			if host := n.Name(); host != "A0" && host != absent {
				p.sinks = append(p.sinks, fleet.startDaemon(t, n))
			}
		}
	}
	p.link = source.mustSeed(t, size, "--plan", "chain", "--topology", file)
	return p
}

// getAll has all daemons download, and checks that they follow the plan if it has them.
func (p *plannedFleet) getAll(ctx context.Context, t *testing.T, inPlan func(host string) bool) {
	t.Helper()
	began := time.Now()
	concurrently(t, p.sinks, func(d *Daemon) error { return d.Get(ctx, p.link) })
	t.Logf("complete after %v", time.Since(began))
	if t.Failed() {
		return
	}
	for _, d := range p.sinks {
		if p := d.status(t).Plan; p == nil || p.In != inPlan(d.Name()) {
			t.Errorf("%s: %+v", d.Name(), p)
		}
	}
}

// TestPlannedHostNeverComes leaves out the host that is to bring the chain into the second cluster.
// Those after it fetch from other nodes.
func TestPlannedHostNeverComes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := func(string) bool { return true }
	startPlanned(t, 8e6, all, "B0").getAll(ctx, t, all)
}

// TestPlannedWithoutHost makes a node that the plan does not have: it fetches as in any swarm.
func TestPlannedWithoutHost(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	inPlan := func(host string) bool { return host != "B1" }
	startPlanned(t, 8e6, inPlan, "").getAll(ctx, t, inPlan)
}
