package sim

import (
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// paperK is the number of blocks of a generation in Cooper's simulations.
const paperK = 200

// runRounds simulates and requires every node complete.
func runRounds(t *testing.T, c Rounds) *RoundsReport {
	t.Helper()
	r, err := RunRounds(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Missing > 0 {
		t.Fatalf("%d of %d nodes are not complete: %+v", r.Missing, c.Nodes, r)
	}
	return r
}

// meanBeyond is the number of rounds beyond the limit that runs take, on average over seeds.
func meanBeyond(t *testing.T, c Rounds, seeds uint64) float64 {
	t.Helper()
	sum := 0
	for c.Seed = 1; c.Seed <= seeds; c.Seed++ {
		sum += runRounds(t, c).Rounds() - RoundsLimit(c.blocks(), c.Nodes)
	}
	return float64(sum) / float64(seeds)
}

// TestRoundsCoded holds coded permutation gossip to the figure of the paper: the limit
// of any broadcast and a few rounds.
func TestRoundsCoded(t *testing.T) {
	long(t)
	for n, seeds := range map[int]uint64{2: 3, 3: 3, 20: 6, 100: 2, 300: 1} {
		for seed := range seeds {
			c := Rounds{Nodes: n, Strategy: proto.Sequential, Blocks: []int{paperK}, Seed: seed + 1}
			over := runRounds(t, c).Rounds() - RoundsLimit(paperK, n)
			if t.Logf("%d nodes: the limit and %d rounds", n, over); over > 5 || over < -1 {
				t.Errorf("%d nodes, seed %d: %d rounds beyond the limit, want at most 5", n, seed+1, over)
			}
		}
	}
}

// TestRoundsPlain requires plain blocks to take 20 to 60 rounds more than coded ones.
func TestRoundsPlain(t *testing.T) {
	long(t)
	for n, seeds := range map[int]uint64{20: 6, 100: 3} {
		c := Rounds{Nodes: n, Strategy: proto.Sequential, Blocks: []int{paperK}}
		coded := meanBeyond(t, c, seeds)
		c.Strategy = proto.RandomBlock
		more := meanBeyond(t, c, seeds) - coded
		if t.Logf("%d nodes: %.1f rounds more", n, more); more < 20 || more > 60 {
			t.Errorf("%d nodes: plain blocks take %.1f rounds more, want 20 to 60", n, more)
		}
	}
}

// TestRoundsOverlaps requires two generations to take less time with the first overlap than
// one after the other, and less again with the second.
func TestRoundsOverlaps(t *testing.T) {
	long(t)
	for n, seeds := range map[int]uint64{20: 6, 50: 4} {
		c := Rounds{Nodes: n, Blocks: []int{paperK, paperK}}
		var over []float64
		for _, c.Strategy = range []proto.Strategy{proto.Sequential, proto.Overlap1, proto.Overlap2} {
			over = append(over, meanBeyond(t, c, seeds))
		}
		t.Logf("%d nodes: sequential %.1f, overlaps %.1f and %.1f rounds beyond the limit", n, over[0], over[1], over[2])
		if over[2] >= over[1] || over[1] >= over[0] {
			t.Errorf("%d nodes: %.1f rounds beyond the limit, want ever less", n, over)
		}
	}
}

// TestRoundsGenerations requires small and unequal generations to be completed in their order,
// whatever the strategy; and the overlaps to save something.
func TestRoundsGenerations(t *testing.T) {
	blocks := []int{16, 1, 30, 8, 16, 255, 3}
	rounds := map[proto.Strategy]int{}
	for _, s := range []proto.Strategy{proto.Sequential, proto.Overlap1, proto.Overlap2, proto.RandomBlock} {
		r := runRounds(t, Rounds{Nodes: 33, Strategy: s, Blocks: blocks, Seed: 2})
		for g := 2; g < len(blocks); g++ {
			if r.Generations[g] <= r.Generations[g-2] {
				t.Errorf("%v: generation %d is complete in round %d, %d in %d", s, g-2, r.Generations[g-2], g, r.Generations[g])
			}
		}
		rounds[s] = r.Rounds()
	}
	if rounds[proto.Overlap1] >= rounds[proto.Sequential] || rounds[proto.Overlap2] >= rounds[proto.Sequential] {
		t.Errorf("%v rounds", rounds)
	}
}

// TestRoundsSeeds requires one result from one seed: those of the first seeds that
// the note on permutations was made with.
func TestRoundsSeeds(t *testing.T) {
	for _, c := range []struct {
		strategy proto.Strategy
		blocks   []int
		want     []int
	}{
		{proto.Sequential, []int{paperK}, []int{207, 207}},
		{proto.RandomBlock, []int{paperK}, []int{240, 236}},
		{proto.Sequential, []int{paperK, paperK}, []int{414, 414}},
		{proto.Overlap1, []int{paperK, paperK}, []int{414, 413}},
		{proto.Overlap2, []int{paperK, paperK}, []int{409, 410}},
	} {
		var got []int
		for seed := range c.want {
			k := Rounds{Nodes: 20, Strategy: c.strategy, Blocks: c.blocks, Seed: uint64(seed) + 1}
			got = append(got, runRounds(t, k).Rounds())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, %d: %d rounds, want %d", c.strategy, c.blocks, got, c.want)
		}
	}
}

// TestRoundsLimit requires the report to count the nodes that are not complete when the time
// is up.
func TestRoundsLimit(t *testing.T) {
	r, err := RunRounds(Rounds{Nodes: 10, Strategy: proto.Sequential, Blocks: []int{paperK}, Limit: paperK / 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Missing != 9 || r.Rounds() != 0 {
		t.Errorf("%d are missing, the last was complete in round %d", r.Missing, r.Rounds())
	}
}

// TestRoundsRejects requires an error for invalid configurations.
func TestRoundsRejects(t *testing.T) {
	for name, c := range map[string]Rounds{
		"one node":            {Nodes: 1, Strategy: proto.Sequential, Blocks: []int{1}},
		"no generation":       {Nodes: 2, Strategy: proto.Sequential},
		"an empty generation": {Nodes: 2, Strategy: proto.Sequential, Blocks: []int{3, 0}},
		"too many blocks":     {Nodes: 2, Strategy: proto.Sequential, Blocks: []int{256}},
		"no gossip":           {Nodes: 2, Blocks: []int{3}},
	} {
		if r, err := RunRounds(c); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
