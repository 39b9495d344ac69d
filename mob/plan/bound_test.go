package plan

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// rates is bytes per second between nodes, before and after a second.
type rates [2][][]float64

func (r rates) carried(a, b int, until time.Duration) float64 {
	before, after := min(until, time.Second).Seconds(), max(until-time.Second, 0).Seconds()
	return before*r[0][a][b] + after*r[1][a][b]
}

// draw makes rates of 0 to 9, the same before and after where nothing shall change.
func draw(rng *rand.Rand, nodes int, change bool) rates {
	var r rates
	for k := range r {
		if k > 0 && !change {
			r[k] = r[0]
			break
		}
		r[k] = make([][]float64, nodes)
		for a := range r[k] {
			r[k][a] = make([]float64, nodes)
			for b := range r[k][a] {
				r[k][a][b] = float64(rng.IntN(10))
			}
		}
	}
	return r
}

// slowestCut tries all cuts.
func slowestCut(nodes int, bytes float64, r rates) time.Duration {
	worst := 0.0
	for mask := 1; mask < 1<<nodes-1; mask += 2 { // the source is always near
		var sum [2]float64
		for k := range sum {
			for a := range nodes {
				for b := range nodes {
					if mask>>a&1 == 1 && mask>>b&1 == 0 {
						sum[k] += r[k][a][b]
					}
				}
			}
		}
		t := bytes / sum[0]
		if bytes > sum[0] {
			t = 1 + (bytes-sum[0])/sum[1]
		}
		if bytes > 0 {
			worst = max(worst, t)
		}
	}
	if math.IsInf(worst, 1) {
		return Never
	}
	return time.Duration(worst * 1e9)
}

func TestBoundIsSlowestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		nodes, bytes := 2+rng.IntN(6), float64(rng.IntN(60))
		r := draw(rng, nodes, i%2 == 0)
		got, want := Bound(nodes, bytes, r.carried), slowestCut(nodes, bytes, r)
		if d := got - want; d < -2 || d > 2 { // ns
			t.Fatalf("%d nodes, %v bytes: %v, the slowest cut takes %v: %v", nodes, bytes, got, want, r)
		}
	}
}

// TestBoundOfManyClusters uses many clusters, and the links out of the source as the slowest cut.
func TestBoundOfManyClusters(t *testing.T) {
	const nodes = 40
	carried := func(a, _ int, until time.Duration) float64 {
		if a == 0 {
			return until.Seconds()
		}
		return 5 * until.Seconds()
	}
	if got, want := Bound(nodes, 10*(nodes-1), carried), 10*time.Second; got < want-2 || got > want+2 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBoundEdgeCases(t *testing.T) {
	none := func(int, int, time.Duration) float64 { return 0 }
	all := func(int, int, time.Duration) float64 { return math.Inf(1) }
	for _, c := range []struct {
		name    string
		nodes   int
		bytes   float64
		carried Carried
		want    time.Duration
	}{
		{"no other node", 1, 1e6, none, 0},
		{"nothing to send", 3, 0, none, 0},
		{"no links", 3, 1, none, Never},
		{"no limits", 3, 1e6, all, 0},
	} {
		if got := Bound(c.nodes, c.bytes, c.carried); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
