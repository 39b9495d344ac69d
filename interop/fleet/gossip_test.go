package fleet

import (
	"context"
	"strconv"
	"testing"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// gossiping is the programs, with a content that goes round by permutations.
type gossiping struct {
	System
	strategy string
}

// Prepare implements bench.System. What is seeded is seeded once more, in that way.
func (g gossiping) Prepare(ctx context.Context, site bench.Site) (bench.Transfer, error) {
	prepared, err := g.System.Prepare(ctx, site)
	if err != nil {
		return nil, err
	}
	tr := prepared.(*Transfer)
	tr.link, err = tr.Source.mob(ctx, "seed", site.Content, "--coded=16", "--strategy="+g.strategy)
	return tr, err
}

// TestGridGossip moves a content through one cluster by each kind of permutation gossip,
// and kills a member on the way: all others get it, intact.
func TestGridGossip(t *testing.T) {
	for _, name := range []string{"permutation", "overlap1", "overlap2", "rb"} {
		t.Run(name, func(t *testing.T) {
			b := cluster(t, 6, 24e6)
			r := runWasteful(t, b, gossiping{System{Bin: bin}, name})
			if len(r.Killed) != 1 {
				t.Errorf("%d nodes were killed, want 1", len(r.Killed))
			}
			t.Logf("%v", r)
		})
	}
}

// cluster is one cluster with NICs of 6 MB/s, of which a node is killed at half of the
// ideal time.
func cluster(t *testing.T, nodes int, size int64) *bench.Bench {
	t.Helper()
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	cl, err := bench.ParseClusters(strconv.Itoa(nodes))
	if err != nil {
		t.Fatal(err)
	}
	cl[0].NIC = 6 * netns.MBps
	c := bench.Case{Clusters: cl, Name: "fast", Size: size, Seed: 1}
	c.Scenario = netns.Steady(netns.Fast().Among(c.Names()...))
	c.Kills = bench.Kills{Percent: 20, After: c.Ideal() / 2}
	b, err := bench.NewBench(context.Background(), c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
