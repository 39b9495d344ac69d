package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// add adds the bytes of a step, at a rate in all directions.
func (l *Load) add(rate int64) {
	for d := range l.Moved {
		l.Moved[d] += rate / int64(shareSteps)
	}
}

// TestGovernor checks the limits of three transfers, while one of a higher priority moves bytes.
func TestGovernor(t *testing.T) {
	var g Governor
	loads := map[string]Load{"low": {Priority: Low}, "none": {}, "normal": {Priority: Normal}, "high": {Priority: High}}
	buckets := map[string]*Buckets{}
	for k := range loads {
		buckets[k] = new(Buckets)
	}
	step := func(rates map[string]int64) (limits map[*Buckets]Limits) {
		for range 2 * shareSteps {
			now := map[*Buckets]Load{}
			for k, l := range loads {
				l.add(rates[k])
				loads[k], now[buckets[k]] = l, l
			}
			limits = g.step(now)
		}
		return limits
	}
	for _, c := range []struct {
		name  string
		moved map[string]int64
		want  map[string]Rate
	}{
		{"nothing moves", nil, nil},
		{"one priority moves", map[string]int64{"normal": 8e6, "none": 8e6}, map[string]Rate{"low": 800e3}},
		{"the lowest moves alone", map[string]int64{"low": 8e6}, nil},
		{"a higher one moves", map[string]int64{"low": 8e6, "none": 8e6}, map[string]Rate{"low": 800e3}},
		{"two lower ones share", map[string]int64{"low": 4e6, "none": 4e6, "high": 8e6},
			map[string]Rate{"low": 400e3, "none": 400e3, "normal": 400e3}},
		{"the least share", map[string]int64{"low": 80e3, "high": 80e3},
			map[string]Rate{"low": leastShare, "none": leastShare, "normal": leastShare}},
	} {
		limits := step(c.moved)
		for k := range loads {
			want := Limits{WANDown: c.want[k], WANUp: c.want[k], LANUp: c.want[k]}
			if got := limits[buckets[k]]; got != want {
				t.Errorf("%s: %s has %v, want %v", c.name, k, got, want)
			}
		}
	}
}

// TestGovernorDirections checks that a limit is for the direction in which bytes move, and ends half a second after
// the last byte. A transfer that starts counts as moving.
func TestGovernorDirections(t *testing.T) {
	var g Governor
	low, high := new(Buckets), new(Buckets)
	step := func(sent int64) Limits {
		return g.step(map[*Buckets]Load{low: {Priority: Low}, high: {Priority: High, Moved: [3]int64{0, sent, 0}}})[low]
	}
	limited := Limits{WANUp: leastShare}
	for i, c := range []struct {
		sent int64
		want Limits
	}{{5e6, Limits{}}, {5e6, Limits{}}, {5e6 + 1, limited}, {5e6 + 1, limited}, {5e6 + 1, Limits{}}} {
		if got := step(c.sent); got != c.want {
			t.Errorf("step %d: %v, want %v", i, got, c.want)
		}
	}
	all := Limits{WANDown: leastShare, WANUp: leastShare, LANUp: leastShare}
	if got := g.step(map[*Buckets]Load{low: {Priority: Low}, high: {Priority: High, Starting: true}})[low]; got != all {
		t.Errorf("beside a transfer that starts: %v, want %v", got, all)
	}
}

// TestGovernorAfterStop checks that a transfer that stopped, and counts from zero again, does not lower the share of another.
func TestGovernorAfterStop(t *testing.T) {
	var g Governor
	low, stopped, high := new(Buckets), new(Buckets), new(Buckets)
	g.step(map[*Buckets]Load{low: {Priority: Low}, stopped: {Moved: [3]int64{1 << 40}}, high: {}})
	limits := g.step(map[*Buckets]Load{low: {Priority: Low}, stopped: {}, high: {Priority: High, Moved: [3]int64{20e6}}})
	if got := limits[low].WANDown; got != 1e6 {
		t.Errorf("the low one may receive %d bytes/s", got)
	}
}

// TestGovernorOnLink checks two transfers that receive over one link, in virtual time. The one with the higher priority gets
// most of it, and once it ends the other has all of it within a second.
func TestGovernorOnLink(t *testing.T) {
	const rate, block, size = 12e6, 16 << 10, 60e6
	synctest.Test(t, func(t *testing.T) {
		var link Bucket
		link.SetRate(rate)
		var g Governor
		var moved [2]atomic.Int64
		var governed [2]Buckets
		var wg sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		receive := func(wg *sync.WaitGroup, i int, until int64) {
			for range 4 {
				wg.Go(func() {
					for moved[i].Load() < until && governed[i].WANDown.Wait(ctx, block) == nil && link.Wait(ctx, block) == nil {
						moved[i].Add(block)
					}
				})
			}
		}
		wg.Go(func() {
			g.Run(ctx, func() map[*Buckets]Load {
				return map[*Buckets]Load{
					&governed[0]: {Low, false, [3]int64{moved[0].Load()}},
					&governed[1]: {Normal, false, [3]int64{moved[1].Load()}},
				}
			})
		})
		receive(&wg, 0, 1<<62)
		time.Sleep(3 * time.Second)
		if got := float64(moved[0].Load()) / 3; got < 0.95*rate {
			t.Errorf("alone the low one receives %.0f bytes/s", got)
		}
		before, began := moved[0].Load(), time.Now()
		var normal sync.WaitGroup
		receive(&normal, 1, size)
		normal.Wait()
		took := time.Since(began).Seconds()
		if alone := size / rate; took > 1.10*alone {
			t.Errorf("the normal one took %.2f s, alone %.2f", took, alone)
		}
		if share := float64(moved[0].Load()-before) / (took * rate); share < 0.03 || share > 0.08 {
			t.Errorf("the low one got %.3f of the link", share)
		}
		time.Sleep(time.Second)
		before = moved[0].Load()
		time.Sleep(time.Second)
		if got := float64(moved[0].Load() - before); got < 0.95*rate {
			t.Errorf("afterwards the low one receives %.0f bytes/s", got)
		}
		stop()
		wg.Wait()
	})
}
