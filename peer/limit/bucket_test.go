package limit

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// passage is bytes that passed at a time.
type passage struct {
	at time.Duration
	n  int
}

// mostIn returns the most bytes that passed within any window of that length.
func mostIn(window time.Duration, all []passage) (most int) {
	sum, first := 0, 0
	for _, p := range all {
		sum += p.n
		for all[first].at <= p.at-window {
			sum -= all[first].n
			first++
		}
		most = max(most, sum)
	}
	return most
}

// TestBucketWindows passes blocks from goroutines of several speeds: in any two seconds the rate is
// within five percent of the limit, and in the whole time nothing is lost.
func TestBucketWindows(t *testing.T) {
	for _, r := range []Rate{100e3, 3e6, 50e6, 2e9} {
		t.Run(r.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Bucket
				b.SetRate(r)
				ctx, cancel := context.WithCancel(t.Context())
				began := time.Now()
				var mu sync.Mutex
				var all []passage
				var wg sync.WaitGroup
				block := int(min(r/100, 256<<10))
				pause := min(200*time.Millisecond, time.Duration(100*block)*time.Second/time.Duration(r))
				for range 8 {
					wg.Go(func() {
						for ctx.Err() == nil {
							n := 1 + rand.IntN(block)
							if b.Wait(ctx, n) != nil {
								return
							}
							mu.Lock()
							all = append(all, passage{time.Since(began), n})
							mu.Unlock()
							if rand.IntN(100) == 0 {
								time.Sleep(rand.N(pause))
							}
						}
					})
				}
				time.Sleep(20 * time.Second)
				cancel()
				wg.Wait()
				limit := 2 * float64(r)
				if most := float64(mostIn(2*time.Second, all)); most > 1.05*limit || most < 0.95*limit {
					t.Errorf("%.3f of the limit in two seconds", most/limit)
				}
				if got := float64(b.Passed()) / 20 / float64(r); got < 0.98 || got > 1.01 {
					t.Errorf("%.3f of the limit", got)
				}
			})
		})
	}
}

// TestBucketSetRate checks that a waiter continues immediately after the limit is raised or removed.
func TestBucketSetRate(t *testing.T) {
	for _, to := range []Rate{0, 1e9} {
		synctest.Test(t, func(t *testing.T) {
			var b Bucket
			b.SetRate(1000)
			if err := b.Wait(t.Context(), 1e6); err != nil { // a block longer than the bucket is deep
				t.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { b.SetRate(to) })
			began := time.Now()
			if err := b.Wait(t.Context(), 1000); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(began); d < time.Second || d > time.Second+2*time.Millisecond {
				t.Errorf("to %v: waited %v", to, d)
			}
			b.SetRate(1)
			if err := b.Wait(t.Context(), 1e6); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if b.Try(1) || b.Wait(ctx, 1) == nil || !b.Starved() || b.Starved() {
				t.Error("something passes, or no call waited")
			}
		})
	}
}

// TestBucketCancel checks that a canceled call takes nothing.
func TestBucketCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Bucket
		b.SetRate(1e6)
		_ = b.Wait(t.Context(), 1e6)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if b.Wait(ctx, 1e9) == nil {
			t.Fatal("it passed")
		}
		began := time.Now()
		_ = b.Wait(t.Context(), 1)
		if d := time.Since(began); d > time.Second {
			t.Errorf("the next waited %v", d)
		}
	})
}

func BenchmarkUnlimited(b *testing.B) {
	c := Chain{new(Bucket), new(Bucket), new(Bucket)}
	for b.Loop() {
		if c.Limited() {
			b.Fatal("limited")
		}
	}
}
