package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/peer/limit"
)

// TestGridPriorities starts a transfer of normal priority on four nodes that fetch one of low priority, over the same
// link. It takes about as long as alone, the other one gets about a twentieth of the link from its first byte on, both are
// complete as early as one after the other, and each byte enters the cluster once.
func TestGridPriorities(t *testing.T) {
	const rate, size, lowSize = 6 * netns.MBps, 30e6, 60e6
	f, names := newFleet(t, netns.Uniform(rate, "A", "B"), 1, 4)
	source, sinks := f.startAll(t, names...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// get fetches content on all nodes with a priority, and returns the time that took.
	get := func(link, priority string) (took time.Duration) {
		began := time.Now()
		concurrently(t, sinks, func(d *Daemon) error {
			_, err := d.mob(ctx, "get", link, "-o", d.Out()+priority, "--priority", priority)
			return err
		})
		return time.Since(began)
	}
	machine := busyShare(t)
	first, long, short := source.mustSeed(t, size), source.mustSeed(t, lowSize), source.mustSeed(t, size)
	alone := get(first, "high")

	before := f.received(t, "B")[0].Bytes
	began := time.Now()
	var low sync.WaitGroup
	low.Go(func() { get(long, "low") })
	bytesOf := func(priority limit.Priority) (sum int64) {
		for _, d := range sinks {
			sum += d.wanIn(t, priority)
		}
		return sum
	}
	for bytesOf("low") < lowSize/4 {
		time.Sleep(50 * time.Millisecond)
	}
	var took time.Duration
	var normal sync.WaitGroup
	normal.Go(func() { took = get(short, "normal") })
	for bytesOf("normal") == 0 {
		time.Sleep(50 * time.Millisecond)
	}
	started, startedAt := bytesOf("low"), time.Now()
	normal.Wait()
	share := float64(bytesOf("low")-started) / (time.Since(startedAt).Seconds() * float64(rate))
	low.Wait()
	both := time.Since(began)
	copies := float64(f.received(t, "B")[0].Bytes-before) / (size + lowSize)
	busy := machine()
	t.Logf("the machine was %.2f busy; alone %v, beside the low one %v (%.2f), share of the low one %.3f, both %v (%.2f), %.3f copies", busy, alone, took,
		took.Seconds()/alone.Seconds(), share, both, both.Seconds()/(3*alone.Seconds()), copies)
	// An idle machine has at most 1.10, 0.08 and 1.05.
	if took.Seconds() > 1.20*alone.Seconds() && busy < fullyBusy {
		t.Errorf("beside the low one it took %v, alone %v", took, alone)
	}
	if share < 0.03 || share > 0.12 && busy < fullyBusy {
		t.Errorf("the low one got %.3f of the link", share)
	}
	if both.Seconds() > 1.15*3*alone.Seconds() && busy < fullyBusy {
		t.Errorf("both took %v, one after the other %v", both, 3*alone)
	}
	if copies > 1.05 {
		t.Errorf("%.3f copies entered the cluster", copies)
	}
}

// wanIn returns the bytes that transfers of a priority have received over the WAN.
func (d *Daemon) wanIn(t testing.TB, priority limit.Priority) (sum int64) {
	t.Helper()
	for _, tr := range d.transfers(t) {
		if tr.Priority == priority {
			sum += tr.Traffic.WANIn
		}
	}
	return sum
}
