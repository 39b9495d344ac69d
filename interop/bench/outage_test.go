package bench

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// outage is the time that a part of the grid is out of reach at least: longer than nodes wait before they
// take a silent peer for dead. In a blink their sessions survive, if the other nodes finish soon.
const (
	outage = 20 * time.Second
	blink  = 8 * time.Second
)

// outages are ways in which a part of a grid is out of reach temporarily. Each function
// changes a running transfer. end undoes what begin did.
var outages = map[string]struct {
	start, end func(tr *mobTransfer) error
	lasts      time.Duration // at least: until the other nodes finish
	// maxCopies bounds what enters a cluster over the WAN.
	maxCopies float64
}{
	"partition": {
		start: func(tr *mobTransfer) error { return tr.eachWay(tr.Grid.Block, "B", "A", "C") },
		end:   func(tr *mobTransfer) error { return tr.eachWay(tr.Grid.Unblock, "B", "A", "C") },
		lasts: outage,
		// What was in flight is lost.
		maxCopies: 1.15,
	},
	"one way": {
		start: func(tr *mobTransfer) error {
			return errors.Join(tr.Grid.Block("B", "A"), tr.Grid.Block("B", "C"))
		},
		end: func(tr *mobTransfer) error {
			return errors.Join(tr.Grid.Unblock("B", "A"), tr.Grid.Unblock("B", "C"))
		},
		lasts: outage,
		// TCP sends again what arrived and was not acknowledged.
		maxCopies: 1.25,
	},
	// A node that is back fetches from its cluster what that has fetched meanwhile, whoever it hears
	// of first. What was in flight is lost.
	"unplugged": {start: unplug, end: plug, lasts: outage, maxCopies: 1.15},
	"blink":     {start: unplug, end: plug, lasts: blink, maxCopies: 1.15},
}

func unplug(tr *mobTransfer) error { return tr.Grid.Node("B", 1).Unplug() }

func plug(tr *mobTransfer) error { return tr.Grid.Node("B", 1).Plug() }

// eachWay calls f for both directions between a cluster and other ones.
func (t *mobTransfer) eachWay(f func(from, to string) error, cluster string, others ...string) error {
	var errs []error
	for _, other := range others {
		errs = append(errs, f(cluster, other), f(other, cluster))
	}
	return errors.Join(errs...)
}

// TestGridSurvivesOutage takes a part of the grid out of reach during a transfer.
// All other nodes must finish meanwhile, and the part when it is back.
func TestGridSurvivesOutage(t *testing.T) {
	t.Parallel()
	for name, out := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fastGrid(t, "3x3", killSize, Kills{})
			o := &observedMob{Mob: Mob{Bin: bin(t)}, t: t}
			o.during = func(tr *mobTransfer) {
				tr.receivers[tr.Grid.Node("B", 1)].(*Daemon).awaitHave(t, killSize/4)
				if err := out.start(tr); err != nil {
					t.Error(err)
				}
				begun := time.Now()
				for _, d := range tr.Daemons {
					if d.Node.Cluster != "B" {
						d.awaitHave(t, int64(killSize))
					}
				}
				time.Sleep(time.Until(begun.Add(out.lasts)))
				if err := out.end(tr); err != nil {
					t.Error(err)
				}
			}
			r := mustRunWasteful(t, b, o)
			for _, c := range r.Copies {
				t.Log(c)
				if c.Copies > out.maxCopies {
					t.Errorf("%v, want at most %.2f", c, out.maxCopies)
				}
			}
		})
	}
}

// TestGridSurvivesSuspend stops a daemon temporarily, as a machine that is suspended does,
// and lets it go on. Its cluster must finish meanwhile, and the daemon when it is back,
// without another copy.
func TestGridSurvivesSuspend(t *testing.T) {
	t.Parallel()
	const size = 48e6
	f, _ := newFleet(t, netns.Uniform(6*netns.MBps, "A", "B"), 1, 3)
	source := f.Grid.Node("A", 0)
	f.startTracker(t, source)
	path := randomContent(t, size)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	link, err := f.startDaemon(t, source).Seed(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	var daemons []*Daemon
	for _, n := range f.Grid.Nodes("B") {
		daemons = append(daemons, f.startDaemon(t, n))
	}
	var gets sync.WaitGroup
	for i, d := range daemons { // at the same time: what one has fetched alone, and takes along, is fetched again
		gets.Go(func() {
			if err := d.Get(ctx, link); err != nil && i != 0 { // the command that waits for a stopped daemon fails
				t.Error(err)
			}
		})
	}
	sleeper := daemons[0]
	sleeper.awaitHave(t, size/4)
	if err := sleeper.proc.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	suspended := time.Now()
	for _, d := range daemons[1:] {
		d.awaitHave(t, size)
	}
	time.Sleep(time.Until(suspended.Add(outage)))
	if err := sleeper.proc.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	sleeper.awaitHave(t, size)
	gets.Wait()
	for _, d := range daemons {
		if same, err := sameContent(ctx, path, d.Out()); err != nil || !same {
			t.Errorf("the copy of %s is damaged: %v", d.Name(), err)
		}
	}
	if copies := float64(f.received(t, "B")[0].Bytes) / size; copies > 1.15 {
		t.Errorf("%.3f copies entered the cluster", copies)
	}
}
