package sim

import (
	"math/rand/v2"
	"time"
)

// The scenarios of the MOB paper on its grid of clusters A, B, C and D.
const (
	fast     = "fast"      // A-B 3, A-C 3, A-D 6, B-C 6, B-D 3, C-D 3 MB/s
	slow     = "slow"      // the same with A-D and B-C at 0.8
	fastSlow = "fast-slow" // turns from fast to slow after a third of the ideal time
	slowFast = "slow-fast"
	mayhem   = "mayhem" // each link draws 10 to 100 % of its fast rate every two seconds
)

const mayhemPeriod = 2 * time.Second

// scenario is a transfer over the grid with four nodes in each cluster.
func scenario(name string, length int64, seed uint64) Config {
	c := Config{Clusters: grid(4, 4, 4, 4), Length: length, PieceLength: 256 << 10, Seed: seed}
	switch name {
	case fast:
		c.Links = steady(fastRate)
	case slow:
		c.Links = steady(slowRate)
	case fastSlow:
		c.Links = switched(c, fastRate, slowRate)
	case slowFast:
		c.Links = switched(c, slowRate, fastRate)
	case mayhem:
		c.Links = drawn(seed)
	}
	return c
}

// grid is clusters A, B, C and so on of the given sizes.
func grid(sizes ...int) []Cluster {
	cs := make([]Cluster, len(sizes))
	for i, n := range sizes {
		cs[i] = Cluster{Name: string(rune('A' + i)), Nodes: n}
	}
	return cs
}

func fastRate(a, b string) float64 {
	if a+b == "AD" || a+b == "BC" {
		return 6e6
	}
	return 3e6
}

func slowRate(a, b string) float64 {
	if a+b == "AD" || a+b == "BC" {
		return 0.8e6
	}
	return 3e6
}

// each makes both directions of every link of the grid.
func each(rate func(a, b string) Rate) Links {
	links := Links{}
	for _, p := range []string{"AB", "AC", "AD", "BC", "BD", "CD"} {
		a, b := p[:1], p[1:]
		links[Link{a, b}], links[Link{b, a}] = rate(a, b), rate(a, b)
	}
	return links
}

func steady(rate func(a, b string) float64) Links {
	return each(func(a, b string) Rate { return constant(rate(a, b)) })
}

// switched changes from one rate to the other after a third of its ideal time, which
// it searches for.
func switched(c Config, before, after func(a, b string) float64) Links {
	at := func(t time.Duration) Links {
		return each(func(a, b string) Rate { return Rate{{0, before(a, b)}, {t, after(a, b)}} })
	}
	lo, hi := time.Duration(0), time.Duration(float64(c.Length)/1e5*1e9)
	for range 60 {
		mid := (lo + hi) / 2
		if c.Links = at(mid); 3*mid < c.Ideal() {
			lo = mid
		} else {
			hi = mid
		}
	}
	return at(lo)
}

// drawn has the links of mayhem for an hour.
func drawn(seed uint64) Links {
	rng := rand.New(rand.NewPCG(seed, 0x6d617968656d))
	links := Links{}
	for _, p := range []string{"AB", "AC", "AD", "BC", "BD", "CD"} {
		a, b := p[:1], p[1:]
		for _, l := range []Link{{a, b}, {b, a}} {
			for t := time.Duration(0); t < time.Hour; t += mayhemPeriod {
				links[l] = append(links[l], Step{t, fastRate(a, b) * (0.1 + 0.9*rng.Float64())})
			}
		}
	}
	return links
}
