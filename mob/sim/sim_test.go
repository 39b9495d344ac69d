package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// long skips a simulation that takes a second or more.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long simulation: make sim runs it")
	}
}

// run simulates and requires every node complete.
func run(t *testing.T, c Config) *Report {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Missing > 0 {
		t.Fatalf("not every node is complete\n%v", r)
	}
	return r
}

// median runs three seeds and returns the median report by share.
func median(t *testing.T, config func(seed uint64) Config) *Report {
	t.Helper()
	var rs []*Report
	for seed := range uint64(3) {
		rs = append(rs, run(t, config(seed+1)))
	}
	slices.SortFunc(rs, func(a, b *Report) int { return int(1e6 * (a.Share() - b.Share())) })
	return rs[1]
}

// oneCopy requires the content to enter each cluster but the source's once.
func oneCopy(t *testing.T, name string, r *Report) {
	t.Helper()
	for i, k := range r.Copies {
		if most := []float64{0.02, 1.03}[min(i, 1)]; k.Copies > most {
			t.Errorf("%s: %.3f copies into %s", name, k.Copies, k.Cluster)
		}
	}
}

// TestScenarios holds the paper's scenarios to a share of the bound, and to one copy over
// the WAN per cluster.
func TestScenarios(t *testing.T) {
	long(t)
	for _, c := range []struct {
		name   string
		sizes  []int
		length int64
		rtt    time.Duration
		least  float64
	}{
		{fast, []int{4, 4, 4, 4}, 240e6, 0, 0.92},
		{slow, []int{4, 4, 4, 4}, 240e6, 0, 0.90},
		{fastSlow, []int{4, 4, 4, 4}, 240e6, 0, 0.88},
		{slowFast, []int{4, 4, 4, 4}, 240e6, 0, 0.92},
		{mayhem, []int{4, 4, 4, 4}, 240e6, 0, 0.79},
		{fast, []int{4, 4, 4, 4}, 240e6, 100 * time.Millisecond, 0.88},
		{fast, []int{4, 16, 16, 16}, 120e6, 0, 0.82},
		{fast, []int{4, 12, 16, 32}, 120e6, 0, 0.82},
	} {
		start := time.Now()
		r := median(t, func(seed uint64) Config {
			k := scenario(c.name, c.length, seed)
			k.Clusters, k.RTT = grid(c.sizes...), c.rtt
			return k
		})
		t.Logf("%s %v RTT %v: %.1f s of wall time\n%v", c.name, c.sizes, c.rtt, time.Since(start).Seconds()/3, r)
		if r.Share() < c.least {
			t.Errorf("%s %v: %.3f of the bound, want %.2f", c.name, c.sizes, r.Share(), c.least)
		}
		oneCopy(t, c.name, r)
	}
}

// TestSlowLinks runs scenario fast at a sixteenth of its rates.
func TestSlowLinks(t *testing.T) {
	r := median(t, func(seed uint64) Config {
		c := scenario(fast, 12e6, seed)
		c.PieceLength = 16 << 10
		for l, r := range c.Links {
			c.Links[l] = constant(r.at(0) / 16)
		}
		return c
	})
	t.Log(r)
	if r.Share() < 0.893 || r.ControlPerPayload > 0.01 {
		t.Errorf("%.3f of the bound, %.4f control", r.Share(), r.ControlPerPayload)
	}
	oneCopy(t, "slow links", r)
}

// TestLocalBottleneck is one cluster whose NICs are the limit, with a long and a short content.
func TestLocalBottleneck(t *testing.T) {
	for length, piece := range map[int64]int{200e6: 256 << 10, 30e6: 16 << 10} {
		r := run(t, Config{Clusters: grid(20), Length: length, PieceLength: piece, NIC: 12.5e6, Seed: 1})
		t.Log(r)
		if r.Share() < 0.93 {
			t.Errorf("%d bytes: %.3f of the bound", length, r.Share())
		}
	}
}

// TestManyClusters is ten clusters of twenty with links of 0.6 to 6 MB/s. The first and the
// last pieces take a part of a second, of five. By luck alone one run has 0.83 to 0.88 of
// the bound, so it is the mean of some.
func TestManyClusters(t *testing.T) {
	long(t)
	const runs = 6
	var sum float64
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(1, 1))
		c := Config{
			Clusters:    grid(20, 20, 20, 20, 20, 20, 20, 20, 20, 20),
			Length:      120e6,
			PieceLength: 256 << 10,
			Links:       Links{},
			Seed:        seed + 1,
		}
		for i, a := range c.Clusters {
			for _, b := range c.Clusters[i+1:] {
				r := constant(0.6e6 + 5.4e6*rng.Float64())
				c.Links[Link{a.Name, b.Name}], c.Links[Link{b.Name, a.Name}] = r, r
			}
		}
		r := run(t, c)
		t.Logf("share %.3f, copies %v, control %.4f", r.Share(), r.Copies, r.Control)
		if sum += r.Share(); r.Control > 0.01 {
			t.Errorf("%.4f control bytes", r.Control)
		}
		for _, k := range r.Copies {
			if k.Copies > 1.05 {
				t.Errorf("%.3f copies into %s", k.Copies, k.Cluster)
			}
		}
	}
	if mean := sum / runs; mean < 0.85 {
		t.Errorf("%.3f of the bound in the mean", mean)
	}
}

// TestHaves requires no more messages of a node for a piece in a large cluster than in a small
// one: not every node announces every piece to every other.
func TestHaves(t *testing.T) {
	long(t)
	for _, size := range []int{4, 32} {
		c := scenario(fast, 40e6, 1)
		c.Clusters = grid(size, size, size, size)
		r := run(t, c)
		pieces := float64(c.Length)/float64(c.PieceLength) + 1
		haves := float64(r.Messages[proto.TypeOf(&proto.Have{})].Messages) / float64(4*size) / pieces
		t.Logf("clusters of %d: %.1f haves of a node for a piece, control %.4f of the payload", size, haves, r.ControlPerPayload)
		if haves > 6 || r.ControlPerPayload > 0.005 {
			t.Errorf("clusters of %d: want at most 6 haves of a node for a piece, and 0.005 of the payload", size)
		}
	}
}

// TestSame requires one history from one seed, and another from another.
func TestSame(t *testing.T) {
	for _, c := range []Config{scenario(mayhem, 20e6, 5), gossip(10, 50, 2)} {
		a, b := run(t, c), run(t, c)
		c.Seed++
		other := run(t, c)
		if a.Trace != b.Trace || a.Steps != b.Steps || a.Time != b.Time {
			t.Errorf("two runs differ:\n%v\n%v", a, b)
		}
		if a.Trace == other.Trace {
			t.Error("two seeds have one trace")
		}
	}
}

// TestNothingTwice requires no byte requested twice where nothing goes wrong, except for the last
// ones, and the few for which two members' claims crossed: one of the two yields.
func TestNothingTwice(t *testing.T) {
	r := run(t, scenario(fast, 60e6, 1))
	if all := 15 * int64(60e6); r.Again > all/1000 || r.Doubled > all/500 || r.Duplicate > all/500 {
		t.Errorf("again %d, doubled %d, duplicate %d of %d bytes", r.Again, r.Doubled, r.Duplicate, all)
	}
}
