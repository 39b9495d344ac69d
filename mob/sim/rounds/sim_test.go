package rounds

import (
	"reflect"
	"testing"

	"github.com/mobgrid/mob/mob/permutation"
)

// k is the blocks of a batch in Cooper's simulations.
const k = 200

// run simulates and wants everybody whole.
func run(t *testing.T, c Config) *Report {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Missing > 0 {
		t.Fatalf("%d of %d nodes have not everything: %+v", r.Missing, c.Nodes, r)
	}
	return r
}

// mean is how many rounds runs with some seeds take beyond the limit, on average.
func mean(t *testing.T, c Config, seeds uint64) float64 {
	t.Helper()
	sum := 0
	for c.Seed = 1; c.Seed <= seeds; c.Seed++ {
		sum += run(t, c).Rounds() - Limit(c.blocks(), c.Nodes)
	}
	return float64(sum) / float64(seeds)
}

// TestCoded holds coded permutation gossip to the figure of the paper: the limit
// of any broadcast and a few rounds.
func TestCoded(t *testing.T) {
	for n, seeds := range map[int]uint64{2: 3, 3: 3, 20: 6, 100: 2, 300: 1} {
		for seed := range seeds {
			over := run(t, Config{Nodes: n, Batches: []int{k}, Seed: seed + 1}).Rounds() - Limit(k, n)
			if t.Logf("%d nodes: the limit and %d rounds", n, over); over > 5 || over < -1 {
				t.Errorf("%d nodes, seed %d: %d rounds more than the limit, want at most 5", n, seed+1, over)
			}
		}
	}
}

// TestPlain wants plain blocks to take 20 to 60 rounds more than coded ones.
func TestPlain(t *testing.T) {
	for n, seeds := range map[int]uint64{20: 6, 100: 3} {
		c := Config{Nodes: n, Batches: []int{k}}
		coded := mean(t, c, seeds)
		c.Uncoded = true
		more := mean(t, c, seeds) - coded
		if t.Logf("%d nodes: %.1f rounds more", n, more); more < 20 || more > 60 {
			t.Errorf("%d nodes: plain blocks take %.1f rounds more, want 20 to 60", n, more)
		}
	}
}

// TestOverlaps wants two batches to take less time with the first overlap than one
// after the other, and less again with the second.
func TestOverlaps(t *testing.T) {
	for n, seeds := range map[int]uint64{20: 6, 50: 4} {
		c := Config{Nodes: n, Batches: []int{k, k}}
		var over [3]float64
		for _, c.Order = range []permutation.Order{permutation.Sequential, permutation.Overlap1, permutation.Overlap2} {
			over[c.Order] = mean(t, c, seeds)
		}
		if t.Logf("%d nodes: sequential %.1f, overlaps %.1f and %.1f rounds beyond the limit", n, over[0], over[1], over[2]); over[2] >= over[1] || over[1] >= over[0] {
			t.Errorf("%d nodes: sequential %.1f, overlaps %.1f and %.1f rounds beyond the limit", n, over[0], over[1], over[2])
		}
	}
}

// TestManyBatches wants small and unequal batches to come through in their order,
// whatever the overlap, coded or not; and the overlaps to save something.
func TestManyBatches(t *testing.T) {
	batches := []int{16, 1, 30, 8, 16, 255, 3}
	var last [3]int
	for order := permutation.Sequential; order <= permutation.Overlap2; order++ {
		for _, uncoded := range []bool{false, true} {
			r := run(t, Config{Nodes: 33, Batches: batches, Order: order, Uncoded: uncoded, Seed: 2})
			for b := 2; b < len(batches); b++ {
				if r.Batches[b] <= r.Batches[b-2] {
					t.Errorf("order %d: batch %d is everywhere after round %d, batch %d after %d", order, b-2, r.Batches[b-2], b, r.Batches[b])
				}
			}
			if !uncoded {
				last[order] = r.Rounds()
			}
		}
	}
	if last[permutation.Overlap1] >= last[permutation.Sequential] || last[permutation.Overlap2] >= last[permutation.Sequential] {
		t.Errorf("%v rounds", last)
	}
}

// TestDeaths wants the others to finish, and hardly later. What the source has sent
// before it dies is enough once as many blocks have left it as there are, and a few.
func TestDeaths(t *testing.T) {
	for name, c := range map[string]Config{
		"one in the middle":       {Nodes: 40, Batches: []int{k}, Deaths: map[int]int{7: 90}},
		"the first to get blocks": {Nodes: 40, Batches: []int{k}, Deaths: map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3}},
		"a quarter, one by one":   {Nodes: 40, Batches: []int{k}, Deaths: map[int]int{3: 20, 4: 40, 5: 60, 6: 80, 7: 100, 8: 120, 9: 140, 10: 160, 11: 180, 12: 200}},
		"the source at the end":   {Nodes: 40, Batches: []int{k}, Deaths: map[int]int{0: k + 5}},
		"between two batches":     {Nodes: 40, Batches: []int{k / 2, k / 2}, Order: permutation.Overlap2, Deaths: map[int]int{9: 105, 10: 106, 11: 107}},
	} {
		t.Run(name, func(t *testing.T) {
			for c.Seed = 1; c.Seed <= 3; c.Seed++ {
				over := run(t, c).Rounds() - Limit(k, c.Nodes)
				if t.Logf("the limit and %d rounds", over); over > 8+len(c.Deaths) {
					t.Errorf("seed %d: %d rounds more than the limit", c.Seed, over)
				}
			}
		})
	}
}

// TestSlow wants a slow node to cost the others little: it takes eight times as
// long, alone; a chain, or a tree with the node inside, would as a whole.
func TestSlow(t *testing.T) {
	const node, rounds = 5, 8
	c := Config{Nodes: 40, Batches: []int{k}, Slow: map[int]int{node: rounds}}
	for c.Seed = 1; c.Seed <= 3; c.Seed++ {
		r := run(t, c)
		others := 0
		for i, f := range r.Finished {
			if i != node {
				others = max(others, f)
			}
		}
		if t.Logf("the others after %d rounds, the slow one after %d", others, r.Finished[node]); others > k*5/4 {
			t.Errorf("seed %d: the others are done after %d rounds", c.Seed, others)
		}
		if r.Finished[node] < k*rounds {
			t.Errorf("seed %d: the slow one is done after %d rounds", c.Seed, r.Finished[node])
		}
	}
}

// TestJitter takes the nodes out of step: a block takes 5 or 20 % longer or shorter.
// They wait for each other at times, so that what was a matter of rounds is one of
// shares. Coded blocks must still be faster than plain ones, and hardly ever
// useless.
func TestJitter(t *testing.T) {
	for _, jitter := range []int{5, 20} {
		c := Config{Nodes: 20, Batches: []int{k}, Jitter: jitter, Seed: 1}
		coded := run(t, c)
		c.Uncoded = true
		plain := run(t, c)
		if t.Logf("%d %%: coded %d, plain %d rounds; useless %d of %d", jitter, coded.Rounds(), plain.Rounds(), coded.Useless, coded.Sent); coded.Rounds() > k*5/4 {
			t.Errorf("%d %%: %d rounds", jitter, coded.Rounds())
		}
		if coded.Rounds() >= plain.Rounds() || coded.Useless > coded.Sent/12 {
			t.Errorf("%d %%: coded %d, plain %d rounds; useless %d of %d", jitter, coded.Rounds(), plain.Rounds(), coded.Useless, coded.Sent)
		}
	}
}

// TestWindow sends without offers, out of step, with words that take half as long as a
// block. That must cost less than offers cost without any delay, and not forbid that
// nodes die.
func TestWindow(t *testing.T) {
	offers := mean(t, Config{Nodes: 20, Batches: []int{k}, Jitter: 5}, 2)
	c := Config{Nodes: 20, Batches: []int{k}, Jitter: 5, Window: 4, Delay: 50}
	window := mean(t, c, 2)
	if t.Logf("offers %.1f, a window %.1f rounds beyond the limit", offers, window); window >= offers {
		t.Errorf("offers %.1f, a window %.1f rounds beyond the limit", offers, window)
	}
	c.Batches = []int{k / 2, k / 2, k / 2, k / 2}
	var over [3]float64
	for _, c.Order = range []permutation.Order{permutation.Sequential, permutation.Overlap1, permutation.Overlap2} {
		over[c.Order] = mean(t, c, 2)
	}
	if t.Logf("sequential %.1f, overlaps %.1f and %.1f", over[0], over[1], over[2]); over[2] >= over[1] || over[1] >= over[0] {
		t.Errorf("sequential %.1f, overlaps %.1f and %.1f rounds beyond the limit", over[0], over[1], over[2])
	}
	c.Deaths = map[int]int{3: 20, 4: 40, 5: 60, 6: 220}
	run(t, c)
	c.Uncoded, c.Deaths = true, nil
	if plain := mean(t, c, 1); plain <= over[2] {
		t.Errorf("plain blocks take %.1f rounds beyond the limit, coded ones %.1f", plain, over[2])
	}
}

// TestNotEnough wants the report to say who is missing when the source has died too
// soon, or the time was up.
func TestNotEnough(t *testing.T) {
	for name, c := range map[string]Config{
		"source gone": {Nodes: 10, Batches: []int{k}, Deaths: map[int]int{0: k - 1}, Limit: 3 * k},
		"time up":     {Nodes: 10, Batches: []int{k}, Limit: k / 2},
	} {
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Missing != 9 || r.Rounds() != 0 {
			t.Errorf("%s: %d are missing, the last was whole after %d rounds", name, r.Missing, r.Rounds())
		}
	}
}

// TestSame wants one result from one seed, and another from another.
func TestSame(t *testing.T) {
	c := Config{Nodes: 30, Batches: []int{40, 40}, Order: permutation.Overlap2, Slow: map[int]int{3: 2}, Deaths: map[int]int{4: 30}, Seed: 5}
	a, b := run(t, c), run(t, c)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("two runs differ:\n%+v\n%+v", a, b)
	}
	c.Seed = 6
	if reflect.DeepEqual(a, run(t, c)) {
		t.Error("two seeds give one result")
	}
}

// TestWrong wants an error for what makes no sense.
func TestWrong(t *testing.T) {
	for name, c := range map[string]Config{
		"one node":          {Nodes: 1, Batches: []int{1}},
		"no batch":          {Nodes: 2},
		"an empty batch":    {Nodes: 2, Batches: []int{3, 0}},
		"too large":         {Nodes: 2, Batches: []int{256}},
		"a slow stranger":   {Nodes: 2, Batches: []int{3}, Slow: map[int]int{2: 2}},
		"a death of none":   {Nodes: 2, Batches: []int{3}, Deaths: map[int]int{-1: 2}},
		"backwards":         {Nodes: 2, Batches: []int{3}, Jitter: 100},
		"words with offers": {Nodes: 2, Batches: []int{3}, Delay: 1},
		"slow by no round":  {Nodes: 2, Batches: []int{3}, Slow: map[int]int{1: 0}},
	} {
		if r, err := Run(c); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
