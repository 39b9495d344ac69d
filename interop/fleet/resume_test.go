package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
)

// resumeSize takes some seconds over resumeRate, so that a kill hits the middle.
const (
	resumeSize = 16e6
	resumeRate = 4 * netns.MBps
)

// TestClientsDownload has a stock client fetch from a node far away. In the middle it
// is killed, and started again: it takes up what it has.
func TestClientsDownload(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c *stock.Client) {
		t.Parallel()
		f, _ := withGuests(t, netns.Uniform(resumeRate, "A", "B"), 1, 1)
		o := offerAt(t, f.daemon(t, f.Grid.Node("A", 0)), content(t, resumeSize), f.announce())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		node := f.Grid.Node("B", 0)
		r := o.fetch(t, c, node)
		f.awaitReceived(ctx, t, "B", resumeSize*6/10)
		if whole, err := r.Whole(); whole || err != nil {
			t.Fatalf("whole before it is killed: %v, %v", whole, err)
		}
		if _, err := r.Kill(); err != nil {
			t.Fatal(err)
		}
		had := f.received(t, []string{"B"})[0].Bytes
		o.mustFetch(ctx, t, o.fetch(t, c, node))
		all := f.received(t, []string{"B"})[0].Bytes
		t.Logf("%.2f copies until it was killed, %.2f after that", float64(had)/resumeSize, float64(all-had)/resumeSize)
		if rest := all - had; rest > resumeSize*8/10 {
			t.Errorf("it fetched %d of %d bytes after it had been killed at %d", rest, int(resumeSize), had)
		}
	})
}

// TestNodeResumesFromClients kills a daemon in the middle of its download from a
// stock client, and starts it again: it fetches what it lacks, and no more.
func TestNodeResumesFromClients(t *testing.T) {
	t.Parallel()
	c := stock.Aria2()
	needs(t, c)
	f, _ := withGuests(t, netns.Uniform(resumeRate, "A", "B"), 1, 1)
	o := newOffer(t, f, content(t, resumeSize), f.announce())
	o.seed(t, c, f.Grid.Node("A", 0))
	d := f.daemon(t, f.Grid.Node("B", 0))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := make(chan error, 1)
	go func() { got <- o.get(ctx, d) }()
	had := d.waitFor(t, resumeSize/2)
	if err := d.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err == nil || had.Have == resumeSize {
		t.Fatalf("whole before it was killed: %+v", had)
	}
	back := f.daemon(t, f.Grid.Node("B", 0))
	st := back.waitFor(t, resumeSize)
	fetched := st.Traffic.WANIn + st.Traffic.LANIn - st.Duplicate
	t.Logf("it had %d, and fetched %d after its restart", had.Have, fetched)
	if lacked := int64(resumeSize) - had.Have; fetched > lacked {
		t.Errorf("fetched %d after the restart, lacked at most %d", fetched, lacked)
	}
	o.mustGet(ctx, t, back)
}

// awaitReceived waits until so many bytes have come into a cluster.
func (f *Fleet) awaitReceived(ctx context.Context, t testing.TB, cluster string, n uint64) {
	t.Helper()
	for f.received(t, []string{cluster})[0].Bytes < n {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("only %d bytes came into %s", f.received(t, []string{cluster})[0].Bytes, cluster)
		}
	}
}
