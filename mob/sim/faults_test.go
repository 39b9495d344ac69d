package sim

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/coded"
)

// TestFaults requires the other ones to finish, and not much later.
func TestFaults(t *testing.T) {
	const length = 120e6
	calm := run(t, scenario(fast, length, 1)).Time
	for name, c := range map[string]struct {
		change func(*Config)
		except int // a node that may take its time
		most   float64
	}{
		"crash":                  {func(c *Config) { c.Faults.Kills = []Kill{{Node: 6, At: 5 * time.Second}} }, 6, 1.1},
		"cable cut":              {func(c *Config) { c.Faults.Kills = []Kill{{Node: 6, At: 5 * time.Second, Silent: true}} }, 6, 1.3},
		"source gone":            {func(c *Config) { c.Faults.KillSource = true }, 0, 1.15},
		"slow in source cluster": {func(c *Config) { c.SlowNIC = map[int]float64{2: 0.5e6} }, 2, 1.1},
		"slow receiver":          {func(c *Config) { c.SlowNIC = map[int]float64{6: 0.5e6} }, 6, 1.08},
		"late member":            {func(c *Config) { c.Starts = map[int]time.Duration{6: 4 * time.Second} }, 0, 1.2},
		"late cluster": {func(c *Config) {
			c.Starts = map[int]time.Duration{12: 4e9, 13: 4e9, 14: 4e9, 15: 4e9}
		}, 0, 1.8},
		"small handouts": {func(c *Config) { c.Handout = 3 }, 0, 1.15},
		// It fetches alone over its cluster's links.
		"liar":  {func(c *Config) { c.Faults.Corrupters = []int{6} }, 6, 1.6},
		"lossy": {func(c *Config) { c.Faults.Lossy = []int{9} }, 0, 1.15},
	} {
		t.Run(name, func(t *testing.T) {
			k := scenario(fast, length, 1)
			c.change(&k)
			r := run(t, k)
			ratio := last(r, c.except).Seconds() / calm.Seconds()
			if t.Logf("%.2f times the time without", ratio); ratio > c.most {
				t.Errorf("%.2f times the time without, want %.2f\n%v", ratio, c.most, r)
			}
		})
	}
}

// TestSlowInterface gives one of nine nodes of a cluster an interface of 0.2 MB/s, which pieces and messages wait at. The other nodes
// wait for no piece that it has started: they are at most 3 % later than without it.
func TestSlowInterface(t *testing.T) {
	c := Config{Length: 120e6, PieceLength: 64 << 10, NIC: 12.5e6, Session: 256 << 10}
	for c.Seed = range 4 {
		c.Clusters, c.SlowNIC = []Cluster{{"A", 8}}, nil
		calm := run(t, c).Time
		c.Clusters, c.SlowNIC = []Cluster{{"A", 9}}, map[int]float64{8: 0.2e6}
		c.Limit = 20 * time.Minute
		if r := run(t, c); last(r, 8).Seconds() > 1.03*calm.Seconds() {
			t.Errorf("seed %d: %v, and %v without the slow node", c.Seed, last(r, 8), calm)
		}
	}
}

// last is the time when the last node but one was complete.
func last(r *Report, except int) time.Duration {
	var last time.Duration
	for i, d := range r.Finished {
		if i != except {
			last = max(last, d)
		}
	}
	return last
}

// TestLossyShort makes a member that rejects half of the requests for pieces or blocks that
// are short, n of them: the other ones of its cluster request others, of it or of each
// other, and are not much later.
func TestLossyShort(t *testing.T) {
	long(t)
	for name, coding := range map[string]coded.Coding{"plain": {}, "coded": {Blocks: 16, Names: 32, Live: 32}} {
		for seed := range uint64(3) {
			k := scenario(fast, 60e6, seed+1)
			k.PieceLength, k.Coding = 64<<10, coding
			calm := run(t, k).Time
			k.Faults.Lossy = []int{9}
			r := run(t, k)
			ratio := r.Time.Seconds() / calm.Seconds()
			t.Logf("%s, seed %d: %.2f times the time without, %d rejects", name, k.Seed, ratio, r.Rejects)
			if ratio > 1.15 || r.Rejects == 0 {
				t.Errorf("%s, seed %d: want at most 1.15\n%v", name, k.Seed, r)
			}
		}
	}
}
