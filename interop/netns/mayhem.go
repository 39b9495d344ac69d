package netns

import (
	"math/rand/v2"
	"time"
)

// Mayhem is a scenario in which each link draws a rate of 10 to 100 % of nominal at the start and
// then once every period. Draws depend only on the seed, the number of the period and the names of
// the clusters, so a run can be repeated.
func Mayhem(nominal Links, period time.Duration, seed uint64) Scenario {
	return mayhem{nominal, period, seed}
}

type mayhem struct {
	nominal Links
	period  time.Duration
	seed    uint64
}

func (m mayhem) Rates(t time.Duration) (Links, time.Duration) {
	n := t / m.period
	draw := rand.New(rand.NewPCG(m.seed, uint64(n)))
	rates := make(map[pair]Rate, len(m.nominal.rates))
	for _, p := range m.nominal.pairs() {
		rates[p] = m.nominal.rates[p] * Rate(0.1+0.9*draw.Float64())
	}
	return Links{rates: rates}, (n + 1) * m.period
}
