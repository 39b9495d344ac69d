package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// drawPlan makes a plan of random trees, each over some of the hosts of the one before.
func drawPlan(rng *rand.Rand, hosts, trees int) *Plan {
	p := new(Plan)
	for h := range hosts {
		p.Hosts = append(p.Hosts, fmt.Sprint("n", h))
	}
	in := make([]int, hosts-1)
	for i := range in {
		in[i] = i + 1
	}
	for range trees {
		t := Tree{Rate: 0.5 + 10*rng.Float64(), Parents: make([]int, hosts)}
		for h := range t.Parents {
			t.Parents[h] = -1
		}
		rng.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		before := []int{0}
		for _, h := range in {
			t.Parents[h] = before[rng.IntN(len(before))]
			before = append(before, h)
		}
		p.Trees = append(p.Trees, t)
		in = in[rng.IntN(1+len(in)/2):]
	}
	return p
}

func TestRouteLeadsToTheSource(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := drawPlan(rng, 2+rng.IntN(20), 1+rng.IntN(10))
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		r := p.Route()
		for piece := range 300 {
			for host := range p.Hosts {
				steps := 0
				last := len(p.Trees)
				for at := host; at != 0; steps++ {
					parent := r.Parent(at, piece)
					tree, stage := r.Tree(at, piece)
					if parent < 0 || steps > len(p.Hosts) || stage > last || p.Trees[tree].Parents[at] != parent {
						t.Fatalf("piece %d to host %d: at %d after %d steps, parent %d in stage %d, after stage %d",
							piece, host, at, steps, parent, stage, last)
					}
					at, last = parent, stage
				}
			}
		}
	}
}

func TestRouteOfOthers(t *testing.T) {
	t.Parallel()
	r := drawPlan(rand.New(rand.NewPCG(3, 4)), 5, 3).Route()
	for _, host := range []int{-1, 0, 5, 1000} {
		if parent := r.Parent(host, 7); parent != -1 {
			t.Errorf("host %d: parent %d", host, parent)
		}
	}
	if parent := new(Plan).Route().Parent(0, 0); parent != -1 {
		t.Errorf("a plan of nothing has a parent %d", parent)
	}
}

// TestRouteSharesByRate requires the pieces of any run shared out in proportion to rates: in the
// first stage among all trees, and what one tree carried among those before it.
func TestRouteSharesByRate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		trees := 2 + rng.IntN(20)
		p := drawPlan(rng, 2, 1) // one host, in some first trees
		in := rng.IntN(trees)
		for k := 1; k < trees; k++ {
			parent := 0
			if k > in {
				parent = -1
			}
			p.Trees = append(p.Trees, Tree{Rate: 0.5 + 10*rng.Float64(), Parents: []int{-1, parent}})
		}
		all, reached := 0.0, 0.0
		for k, tree := range p.Trees {
			all += tree.Rate
			if k <= in {
				reached += tree.Rate
			}
		}
		r, begin, pieces := p.Route(), rng.IntN(1e6), 1+rng.IntN(20000)
		first, total := make([]int, trees), make([]int, trees)
		for piece := begin; piece < begin+pieces; piece++ {
			tree, stage := r.Tree(1, piece)
			total[tree]++
			if stage == 0 {
				first[tree]++
			}
		}
		for k := 0; k <= in; k++ {
			u := p.Trees[k].Rate
			if want := float64(pieces) * u / all; math.Abs(float64(first[k])-want) > 6 {
				t.Errorf("%d pieces of %d, tree %d of %d: %d in the first stage, want %.1f", pieces, begin, k, trees, first[k], want)
			}
			if want := float64(pieces) * u / reached; math.Abs(float64(total[k])-want) > 6+2*math.Sqrt(want) {
				t.Errorf("%d pieces of %d, tree %d of %d: %d in all stages, want %.1f", pieces, begin, k, trees, total[k], want)
			}
		}
	}
}

func TestValidateFindsFaults(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Plan){
		"no hosts":      func(p *Plan) { p.Hosts = nil },
		"no trees":      func(p *Plan) { p.Trees = nil },
		"a host twice":  func(p *Plan) { p.Hosts[3] = p.Hosts[1] },
		"rate 0":        func(p *Plan) { p.Trees[1].Rate = 0 },
		"no rate":       func(p *Plan) { p.Trees[1].Rate = math.NaN() },
		"any rate":      func(p *Plan) { p.Trees[1].Rate = math.Inf(1) },
		"few parents":   func(p *Plan) { p.Trees[1].Parents = p.Trees[1].Parents[:4] },
		"far parent":    func(p *Plan) { p.Trees[1].Parents[2] = 5 },
		"negative":      func(p *Plan) { p.Trees[1].Parents[2] = -2 },
		"loop":          func(p *Plan) { p.Trees[0].Parents = []int{-1, 2, 1, 0, 0} },
		"own parent":    func(p *Plan) { p.Trees[0].Parents = []int{-1, 1, 1, 0, 0} },
		"source":        func(p *Plan) { p.Trees[0].Parents = []int{1, 0, 0, 0, 0} },
		"host left out": func(p *Plan) { p.Trees[0].Parents = []int{-1, 0, -1, 0, 0} },
		"parent not in": func(p *Plan) { p.Trees[1].Parents = []int{-1, -1, 1, 2, 0} },
		"not in former": func(p *Plan) {
			p.Trees[1].Parents = []int{-1, -1, 0, 0, 0}
			p.Trees = append(p.Trees, Tree{Rate: 1, Parents: []int{-1, 0, 0, 0, 0}})
		},
	} {
		p := &Plan{Hosts: []string{"a", "b", "c", "d", "e"}, Trees: []Tree{
			{Rate: 3, Parents: []int{-1, 0, 1, 2, 3}},
			{Rate: 2, Parents: []int{-1, -1, 0, 2, 2}},
		}}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		if spoil(p); p.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// BenchmarkRoute works out the parents of all pieces of one host.
func BenchmarkRoute(b *testing.B) {
	r := drawPlan(rand.New(rand.NewPCG(7, 8)), 400, 400).Route()
	b.ReportAllocs()
	for b.Loop() {
		for piece := range 50000 {
			r.Parent(399, piece)
		}
	}
}
