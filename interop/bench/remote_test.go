package bench

import (
	"sync"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// TestCopiers runs what people copy with on a small cluster.
func TestCopiers(t *testing.T) {
	t.Parallel()
	needsGrid(t)
	for _, c := range Copiers() {
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel()
			if err := c.Missing(); err != nil {
				t.Skip(err)
			}
			clusters := []netns.Cluster{{Name: "A", Nodes: 4, NIC: 20 * netns.MBps}}
			b := newBench(t, Case{Config: netns.Config{Clusters: clusters}, Scenario: netns.Steady(netns.Links{}), Size: 4e6})
			r := mustRunWasteful(t, b, c)
			if r.CPU <= 0 || r.Peak <= 0 || r.Last < r.Median {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestCast casts to hosts with and without the program. Its way is part of what enters the
// other cluster, once.
func TestCast(t *testing.T) {
	t.Parallel()
	needsGrid(t)
	const size = 24e6
	if err := (Cast{Bin: bin(t)}).Missing(); err != nil {
		t.Skip(err)
	}
	var mu sync.Mutex
	copies := map[string]float64{}
	t.Run("each", func(t *testing.T) { // ends when all have
		for _, c := range []Cast{{}, {Options: []string{ThereOption}}, {Options: []string{ThereOption, StreamOption}}} {
			c.Bin = bin(t)
			t.Run(c.Name(), func(t *testing.T) {
				t.Parallel()
				r := mustRunWasteful(t, fastGrid(t, "2x3", size, Kills{}), c)
				t.Logf("%.2f copies, %.2f s", r.Copies[1].Copies, r.Last)
				mu.Lock()
				defer mu.Unlock()
				copies[c.Name()] = r.Copies[1].Copies
			})
		}
	})
	for _, name := range []string{"mob:cast:there", "mob:cast:there:stream"} {
		if copies[name] > 1.2 {
			t.Errorf("%s: %.2f copies", name, copies[name])
		}
	}
	if program := copies["mob:cast"] - copies["mob:cast:there"]; program < 2e6/size || program > 12e6/size {
		t.Errorf("the program takes %.1f MB", program*size/1e6)
	}
}

// TestCastSurvivesDeath kills hosts with everything on them.
func TestCastSurvivesDeath(t *testing.T) {
	t.Parallel()
	needsGrid(t)
	c := Cast{Bin: bin(t), Options: []string{ThereOption}}
	if err := c.Missing(); err != nil {
		t.Skip(err)
	}
	mustRunWasteful(t, fastGrid(t, "2x4", 36e6, Kills{Percent: 25, After: killAfter}), c)
}
