package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Broadcast is one transfer from a source to every other node of a grid.
type Broadcast struct {
	Fleet *Fleet
	// Source serves, Daemons get; Source is not among them.
	Source  *Daemon
	Daemons []*Daemon
	Path    string
	Size    int64
}

// Setup runs a tracker, and a daemon on every node; the source is the first node
// of the first cluster, with the tracker beside it.
func Setup(f *Fleet, clusters []string, path string) (*Broadcast, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	b := &Broadcast{Fleet: f, Path: path, Size: fi.Size()}
	if err := f.StartTracker(f.Grid.Node(clusters[0], 0)); err != nil {
		return nil, err
	}
	for _, c := range clusters {
		for _, n := range f.Grid.Nodes(c) {
			d, err := f.StartDaemon(n)
			if err != nil {
				return nil, err
			}
			if b.Source == nil {
				b.Source = d
			} else {
				b.Daemons = append(b.Daemons, d)
			}
		}
	}
	return b, nil
}

// Result is what a broadcast came to.
type Result struct {
	// Took is from the start of the gets to the end of the last that did not fail.
	Took time.Duration
	// Finished is when each get ended after the start, Errors why it failed.
	Finished map[string]time.Duration
	Errors   map[string]error
	// Copies is per cluster what its WAN interfaces received, by the size.
	Copies map[string]float64
	// CPU is that of all daemons together, PeakMemory the most of one, in bytes.
	CPU        time.Duration
	PeakMemory int64
}

// Rate is the throughput in bytes per second.
func (r *Result) Rate(size int64) float64 { return float64(size) / r.Took.Seconds() }

// Run seeds and gets everywhere at once. during, if not nil, is called when the
// gets have started; what it does to daemons shows in the result's errors.
func (b *Broadcast) Run(ctx context.Context, during func(start time.Time)) (*Result, error) {
	link, err := b.Source.Seed(ctx, b.Path)
	if err != nil {
		return nil, err
	}
	before, err := b.wanBytes()
	if err != nil {
		return nil, err
	}
	r := &Result{Finished: map[string]time.Duration{}, Errors: map[string]error{}, Copies: map[string]float64{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for _, d := range b.Daemons {
		wg.Go(func() {
			err := d.Get(ctx, link)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				r.Errors[d.Name()] = err
				return
			}
			r.Finished[d.Name()] = time.Since(start)
			r.Took = max(r.Took, r.Finished[d.Name()])
		})
	}
	if during != nil {
		during(start)
	}
	wg.Wait()
	after, err := b.wanBytes()
	if err != nil {
		return nil, err
	}
	for c, n := range after {
		r.Copies[c] = float64(n-before[c]) / float64(b.Size)
	}
	for _, d := range append([]*Daemon{b.Source}, b.Daemons...) {
		if cpu, err := d.CPU(); err == nil { // a killed one has none
			r.CPU += cpu
		}
		if mem, err := d.PeakMemory(); err == nil {
			r.PeakMemory = max(r.PeakMemory, mem)
		}
	}
	return r, nil
}

func (b *Broadcast) wanBytes() (map[string]uint64, error) {
	m := map[string]uint64{}
	for _, d := range append([]*Daemon{b.Source}, b.Daemons...) {
		c := d.Node.Cluster
		if _, ok := m[c]; ok {
			continue
		}
		n, err := b.Fleet.Grid.WANBytes(c)
		if err != nil {
			return nil, err
		}
		m[c] = n
	}
	return m, nil
}

// Intact compares every finished copy with the source's.
func (b *Broadcast) Intact(r *Result) error {
	want, err := digest(b.Path)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range b.Daemons {
		if _, ok := r.Finished[d.Name()]; !ok {
			continue
		}
		got, err := digest(d.Out())
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("%s: the copy differs from the source", d.Name())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func digest(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}
