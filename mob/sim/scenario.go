package sim

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Link is one direction between two clusters.
type Link struct{ From, To string }

// Links are the rates of the WAN.
type Links map[Link]Rate

// The scenarios of the MOB paper on its grid of clusters A, B, C and D, as
// Standard makes them.
const (
	Fast     = "fast"      // A-B 3, A-C 3, A-D 6, B-C 6, B-D 3, C-D 3 MB/s
	Slow     = "slow"      // the same with A-D and B-C at 0.8
	FastSlow = "fast-slow" // turns from fast to slow after a third of the ideal time
	SlowFast = "slow-fast"
	Mayhem   = "mayhem" // each link draws 10 to 100 % of its fast rate every two seconds
)

const mayhemPeriod = 2 * time.Second

// Standard is the links of a standard scenario for a content of length bytes.
func Standard(name string, length int64, seed uint64) (Links, error) {
	switch name {
	case Fast:
		return constant(fastRate), nil
	case Slow:
		return constant(slowRate), nil
	case FastSlow:
		return switched(fastRate, slowRate, length), nil
	case SlowFast:
		return switched(slowRate, fastRate, length), nil
	case Mayhem:
		return mayhem(seed), nil
	}
	return nil, fmt.Errorf("sim: unknown scenario %q", name)
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

func constant(rate func(a, b string) float64) Links {
	return each(func(a, b string) Rate { return Constant(rate(a, b)) })
}

// switched changes from one rate to the other after a third of its own ideal
// time, which is searched for.
func switched(before, after func(a, b string) float64, length int64) Links {
	at := func(t time.Duration) Links {
		return each(func(a, b string) Rate { return Rate{{0, before(a, b)}, {t, after(a, b)}} })
	}
	names := []string{"A", "B", "C", "D"}
	lo, hi := time.Duration(0), time.Duration(float64(length)/1e5*1e9)
	for range 60 {
		mid := (lo + hi) / 2
		if 3*mid < at(mid).ideal(names, length) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return at(lo)
}

// mayhem draws for an hour.
func mayhem(seed uint64) Links {
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
