package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// counted is readings of the counters of an interface, the times before and after each, and the share of that time that the
// machine was busy.
type counted struct {
	began, ended []time.Time
	bytes        []uint64
	machine      float64
}

// sampleCounter reads a counter until stop is called, which returns what it read.
func sampleCounter(t testing.TB, read func() (uint64, error)) (stop func() counted) {
	t.Helper()
	var c counted
	busy := busyShare(t)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			began := time.Now()
			n, err := read()
			if err != nil {
				t.Error(err)
				return
			}
			c.began, c.ended, c.bytes = append(c.began, began), append(c.ended, time.Now()), append(c.bytes, n)
			select {
			case <-tick.C:
			case <-done:
				tick.Stop()
				return
			}
		}
	}()
	return func() counted {
		close(done)
		<-ended
		c.machine = busy()
		return c
	}
}

// edges returns when the first and the last thousandth of the bytes had come, and the bytes between.
func (c counted) edges() (from, to time.Time, bytes float64) {
	first, last := c.bytes[0], c.bytes[len(c.bytes)-1]
	edge := (last - first) / 1000
	i := slices.IndexFunc(c.bytes, func(n uint64) bool { return n > first+edge })
	j := slices.IndexFunc(c.bytes, func(n uint64) bool { return n >= last-edge })
	return c.began[i], c.ended[j], float64(c.bytes[j] - c.bytes[i])
}

// windows returns the bytes per second in every two seconds of the transfer, in ascending order. The two seconds include both
// readings, so a reading that takes long makes no rate higher.
func (c counted) windows() (rates []float64) {
	const window = 2 * time.Second
	from, to, _ := c.edges()
	for i := range c.began {
		if c.began[i].Before(from) {
			continue
		}
		j := i
		for j+1 < len(c.ended) && c.ended[j].Sub(c.began[i]) < window {
			j++
		}
		if c.ended[j].After(to) || c.ended[j].Sub(c.began[i]) < window {
			break
		}
		rates = append(rates, float64(c.bytes[j]-c.bytes[i])/c.ended[j].Sub(c.began[i]).Seconds())
	}
	slices.Sort(rates)
	return rates
}

// checkLimit checks that no two seconds of a transfer have more than most of the limit, and that half of them have at
// least 0.95 of it, unless the machine was so busy that packets waited for a processor.
func (c counted) checkLimit(t testing.TB, limit, most float64) {
	t.Helper()
	rates := c.windows()
	if len(rates) == 0 {
		t.Fatal("a transfer of less than two seconds")
	}
	least, median, highest := rates[0]/limit, rates[len(rates)/2]/limit, rates[len(rates)-1]/limit
	t.Logf("two seconds have %.3f to %.3f of the limit, %.3f in the median; the machine was %.2f busy", least, highest, median, c.machine)
	if highest > most {
		t.Errorf("two seconds have %.3f of the limit, want at most %.2f", highest, most)
	}
	if median < 0.95 && c.machine < fullyBusy {
		t.Errorf("two seconds have %.3f of the limit in the median, want 0.95", median)
	}
}

// TestGridLimits transfers content between two nodes with each of the limits, and reads the counters
// of the interfaces, where headers of packets barely count: segments are large there. In any two
// seconds no more bytes pass than the limit says, and in most of them barely less.
func TestGridLimits(t *testing.T) {
	const limit, size = 4e6, 40e6
	for _, c := range []struct {
		flag    string
		at      string // the daemon that has the limit
		cluster string // of the daemon that fetches
	}{{"wan-down", "sink", "B"}, {"wan-up", "source", "B"}, {"lan-up", "source", "A"}} {
		t.Run(c.flag, func(t *testing.T) {
			t.Parallel()
			f, _ := newFleet(t, netns.Uniform(40*netns.MBps, "A", "B"), 2, 1)
			f.Instead = map[string][]string{c.at: {"mobd", "--" + c.flag, "4MB"}}
			f.startTracker(t, f.Grid.Node("A", 0))
			source, err := f.StartNamed(f.Grid.Node("A", 0), "source", "A")
			if err != nil {
				t.Fatal(err)
			}
			node, read := f.Grid.Node("B", 0), func() (uint64, error) { return f.Grid.WANBytes("B") }
			if c.cluster == "A" {
				node, read = f.Grid.Node("A", 1), func() (uint64, error) { return f.Grid.LANBytes("A") }
			}
			sink, err := f.StartNamed(node, "sink", c.cluster)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			link := source.mustSeed(t, size)
			stop := sampleCounter(t, read)
			if err := sink.Get(ctx, link); err != nil {
				t.Fatal(err)
			}
			stop().checkLimit(t, limit, 1.05)
			for _, d := range []*Daemon{source, sink} {
				if err := d.Stop(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Run("cluster-wan-down", testClusterLimit)
}

// testClusterLimit limits the rate into one of four clusters: its members together keep to it and
// use it up, each byte enters it once, and the other ones do not wait for it.
func testClusterLimit(t *testing.T) {
	t.Parallel()
	const limit, size = 3e6, 42e6
	f, names := newFleet(t, netns.Fast(), 4, 4, 4, 4)
	f.Instead = map[string][]string{}
	for i := range 4 {
		f.Instead[fmt.Sprint("D", i)] = []string{"mobd", "--cluster-wan-down", "3MB"}
	}
	source, sinks := f.startAll(t, names...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	link := source.mustSeed(t, size)
	before := f.received(t, names...)
	stop := sampleCounter(t, func() (uint64, error) { return f.Grid.WANBytes("D") })
	began := time.Now()
	var mu sync.Mutex
	last := map[string]time.Duration{}
	concurrently(t, sinks, func(d *Daemon) error {
		err := d.Get(ctx, link)
		mu.Lock()
		defer mu.Unlock()
		last[d.Node.Cluster] = time.Since(began)
		return err
	})
	counted := stop()
	// A machine that is busy delivers late what was requested before, which is in two windows then.
	counted.checkLimit(t, limit, 1.1)
	from, to, bytes := counted.edges()
	if rate := bytes / to.Sub(from).Seconds(); rate > 1.01*limit {
		t.Errorf("D received %.2f MB/s", rate/1e6)
	}
	after := f.received(t, names...)
	for i := range names {
		copies := float64(after[i].Bytes-before[i].Bytes) / size
		t.Logf("%s: %.3f copies, last after %v", names[i], copies, last[names[i]])
		if names[i] == "D" && copies > 1.05 {
			t.Errorf("%.3f copies entered %s", copies, names[i])
		}
	}
	// Edmonds' bound is the least cut: with such a link into D it is the limit.
	bound := time.Duration(size / limit * float64(time.Second))
	for _, name := range []string{"B", "C"} {
		if last[name] > bound && counted.machine < fullyBusy {
			t.Errorf("%s took %v, longer than the bound %v", name, last[name], bound)
		}
	}
}
