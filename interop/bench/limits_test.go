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

// counted is readings of the counters of an interface.
type counted struct {
	at    []time.Time
	bytes []uint64
}

// sampleCounter reads a counter until stop is called, which returns what it read.
func sampleCounter(t testing.TB, read func() (uint64, error)) (stop func() counted) {
	t.Helper()
	var c counted
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			n, err := read()
			if err != nil {
				t.Error(err)
				return
			}
			c.at, c.bytes = append(c.at, time.Now()), append(c.bytes, n)
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
		return c
	}
}

// busy returns when the first and the last thousandth of the bytes had come, and the bytes between.
func (c counted) busy() (from, to time.Time, bytes float64) {
	first, last := c.bytes[0], c.bytes[len(c.bytes)-1]
	edge := (last - first) / 1000
	i := slices.IndexFunc(c.bytes, func(n uint64) bool { return n > first+edge })
	j := slices.IndexFunc(c.bytes, func(n uint64) bool { return n >= last-edge })
	return c.at[i], c.at[j], float64(c.bytes[j] - c.bytes[i])
}

// windows returns the least and the most bytes per second in two seconds of the transfer.
func (c counted) windows() (least, most float64) {
	const window = 2 * time.Second
	from, to, _ := c.busy()
	for i := range c.at {
		if c.at[i].Before(from) {
			continue
		}
		j := i
		for j+1 < len(c.at) && c.at[j].Sub(c.at[i]) < window {
			j++
		}
		if c.at[j].After(to) || c.at[j].Sub(c.at[i]) < window {
			break
		}
		rate := float64(c.bytes[j]-c.bytes[i]) / c.at[j].Sub(c.at[i]).Seconds()
		if least == 0 {
			least = rate
		}
		least, most = min(least, rate), max(most, rate)
	}
	return least, most
}

// TestGridLimits transfers content between two nodes with each of the limits, and reads the counters
// of the interfaces, where headers of packets barely count: segments are large there. In any two
// seconds no more bytes pass than the limit says, and on average barely less.
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
			link, err := source.Seed(ctx, randomContent(t, size))
			if err != nil {
				t.Fatal(err)
			}
			stop := sampleCounter(t, read)
			if err := sink.Get(ctx, link); err != nil {
				t.Fatal(err)
			}
			counted := stop()
			least, most := counted.windows()
			from, to, bytes := counted.busy()
			mean := bytes / to.Sub(from).Seconds()
			t.Logf("%.3f of the limit, %.3f to %.3f in two seconds", mean/limit, least/limit, most/limit)
			if mean < 0.9*limit || most > 1.05*limit { // the least also shows how busy the machine is
				t.Errorf("%.2f MB/s, up to %.2f in two seconds", mean/1e6, most/1e6)
			}
			for _, d := range []*Daemon{source, sink} {
				if err := d.Stop(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestGridClusterLimit limits the rate into one of four clusters: its members together keep to it and
// use it up, each byte enters it once, and the other ones do not wait for it.
func TestGridClusterLimit(t *testing.T) {
	const limit, size = 3e6, 42e6
	f, names := newFleet(t, netns.Fast(), 4, 4, 4, 4)
	f.Instead = map[string][]string{}
	for i := range 4 {
		f.Instead[fmt.Sprint("D", i)] = []string{"mobd", "--cluster-wan-down", "3MB"}
	}
	f.startTracker(t, f.Grid.Node("A", 0))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var source *Daemon
	var sinks []*Daemon
	for _, name := range names {
		for i, n := range f.Grid.Nodes(name) {
			if d := f.startDaemon(t, n); name == "A" && i == 0 {
				source = d
			} else {
				sinks = append(sinks, d)
			}
		}
	}
	link, err := source.Seed(ctx, randomContent(t, size))
	if err != nil {
		t.Fatal(err)
	}
	before := f.received(t, names...)
	stop := sampleCounter(t, func() (uint64, error) { return f.Grid.WANBytes("D") })
	began := time.Now()
	var mu sync.Mutex
	last := map[string]time.Duration{}
	var gets sync.WaitGroup
	for _, d := range sinks {
		gets.Go(func() {
			if err := d.Get(ctx, link); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			last[d.Node.Cluster] = time.Since(began)
		})
	}
	gets.Wait()
	counted := stop()
	from, to, bytes := counted.busy()
	rate := bytes / to.Sub(from).Seconds()
	least, most := counted.windows()
	t.Logf("D: %.3f MB/s, %.3f to %.3f of the limit in two seconds", rate/1e6, least/limit, most/limit)
	// A machine that is busy delivers late what was requested before, which is in two windows then.
	if rate < 0.9*limit || rate > 1.01*limit || most > 1.1*limit {
		t.Errorf("D received %.2f MB/s, and up to %.2f in two seconds", rate/1e6, most/1e6)
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
		if last[name] > bound {
			t.Errorf("%s took %v, longer than the bound %v", name, last[name], bound)
		}
	}
}
