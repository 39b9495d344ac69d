package sim

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// gossip is a cluster of n nodes in which a block takes 35 ms to be sent, and generations
// of k blocks.
func gossip(n, k, generations int) Config {
	return Config{
		Clusters:    grid(n),
		Length:      int64(k*generations) << 16,
		PieceLength: 64 << 10,
		NIC:         1.875e6,
		Strategy:    proto.Sequential,
		Generation:  k,
		Seed:        1,
	}
}

// TestGossip holds permutation gossip to a share of the bound, also where control messages
// take as long as blocks, and requires barely a coded block to be useless. Each overlap saves
// something, and plain blocks cost more than anything.
func TestGossip(t *testing.T) {
	long(t)
	for _, rtt := range []time.Duration{0, 35 * time.Millisecond} {
		c := gossip(20, paperK, 1)
		c.LanRTT = rtt
		r := run(t, c)
		t.Logf("RTT %v: %.3f of the bound, %d useless blocks", rtt, r.Share(), r.Useless)
		if r.Share() < 0.78 {
			t.Errorf("RTT %v: %.3f of the bound", rtt, r.Share())
		}
		if most := 19 * paperK / 12; r.Useless > most {
			t.Errorf("RTT %v: %d useless blocks, want at most %d", rtt, r.Useless, most)
		}
		c.Length *= 2
		c.Generation = paperK / 2
		worse := time.Duration(1 << 62)
		for _, c.Strategy = range []proto.Strategy{proto.RandomBlock, proto.Sequential, proto.Overlap1, proto.Overlap2} {
			sum := time.Duration(0)
			for c.Seed = 1; c.Seed <= 3; c.Seed++ {
				sum += run(t, c).Time
			}
			if t.Logf("RTT %v, %v: %v", rtt, c.Strategy, sum/3); sum >= worse {
				t.Errorf("RTT %v, %v: %v, the one before took %v", rtt, c.Strategy, sum/3, worse/3)
			}
			worse = sum
		}
	}
}

// TestGossipFaults requires the other ones to finish, and not much later. What the source has sent
// before it dies is enough once as many blocks have left it as there are, and a few.
func TestGossipFaults(t *testing.T) {
	long(t)
	const n = 40
	const round = 35 * time.Millisecond
	kills := func(nodes ...Kill) func(*Config) {
		return func(c *Config) { c.Faults.Kills = nodes }
	}
	calm := run(t, gossip(n, paperK, 1)).Time
	for name, c := range map[string]struct {
		change func(*Config)
		except int // a node that may take its time
		most   float64
	}{
		"crash":     {kills(Kill{Node: 7, At: 90 * round}), 7, 1.05},
		"cable cut": {kills(Kill{Node: 7, At: 90 * round, Silent: true}), 7, 1.1},
		"four at the start": {kills(
			Kill{Node: 1, At: 4 * round},
			Kill{Node: 2, At: 5 * round},
			Kill{Node: 3, At: 6 * round},
			Kill{Node: 4, At: 7 * round},
		), 0, 1.05},
		"a quarter, one by one": {func(c *Config) {
			for i := range 10 {
				c.Faults.Kills = append(c.Faults.Kills, Kill{Node: 3 + i, At: time.Duration(20*(i+1)) * round})
			}
		}, 0, 1.1},
		"source gone":   {kills(Kill{Node: 0, At: 212 * round}), 0, 1.1},
		"slow receiver": {func(c *Config) { c.SlowNIC = map[int]float64{5: 1.875e6 / 8} }, 5, 1.12},
		"late member":   {func(c *Config) { c.Starts = map[int]time.Duration{5: 3 * time.Second} }, 5, 1.08},
		"between two generations": {func(c *Config) {
			c.Strategy, c.Generation = proto.Overlap2, paperK/2
			c.Faults.Kills = []Kill{{Node: 9, At: 115 * round}, {Node: 10, At: 116 * round}, {Node: 11, At: 117 * round}}
		}, 0, 1.1},
	} {
		t.Run(name, func(t *testing.T) {
			k := gossip(n, paperK, 1)
			c.change(&k)
			for k.Seed = 1; k.Seed <= 3; k.Seed++ {
				r := run(t, k)
				ratio := last(r, c.except).Seconds() / calm.Seconds()
				if t.Logf("seed %d: %.2f times the time without", k.Seed, ratio); ratio > c.most {
					t.Errorf("seed %d: %.2f times the time without, want %.2f\n%v", k.Seed, ratio, c.most, r)
				}
			}
		})
	}
}
