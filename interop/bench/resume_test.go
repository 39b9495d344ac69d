package bench

import (
	"context"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// A transfer of resumeSize takes some seconds at resumeRate, so that a kill is in the
// middle.
const (
	resumeSize = 16e6
	resumeRate = 4 * netns.MBps
)

// TestClientsDownload makes a stock client download from a daemon in another cluster. It is
// killed midway and restarted, and must resume.
func TestClientsDownload(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c *stock.Client) {
		t.Parallel()
		f, _ := newTorrentFleet(t, netns.Uniform(resumeRate, "A", "B"), 1, 1)
		to := seedTorrent(t, f.startDaemon(t, f.Grid.Node("A", 0)), randomContent(t, resumeSize), f.announceURL())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		node := f.Grid.Node("B", 0)
		i := to.download(t, c, node)
		f.awaitReceived(ctx, t, "B", resumeSize*6/10)
		if complete, err := i.Complete(); complete || err != nil {
			t.Fatalf("complete before it is killed: %v, %v", complete, err)
		}
		if err := i.Kill(); err != nil {
			t.Fatal(err)
		}
		had := f.received(t, "B")[0].Bytes
		to.mustComplete(ctx, t, to.download(t, c, node))
		all := f.received(t, "B")[0].Bytes
		t.Logf("%.2f copies until it was killed, %.2f after that", float64(had)/resumeSize, float64(all-had)/resumeSize)
		if rest := all - had; rest > resumeSize*8/10 {
			t.Errorf("downloaded %d of %d bytes after it had been killed at %d", rest, int(resumeSize), had)
		}
	})
}

// TestNodeResumesFromClients kills a daemon during its download from a stock
// client, and restarts it: it must download no more than was missing.
func TestNodeResumesFromClients(t *testing.T) {
	t.Parallel()
	c := stock.Find("aria2")
	needsClients(t, c)
	f, _ := newTorrentFleet(t, netns.Uniform(resumeRate, "A", "B"), 1, 1)
	to := newTorrent(t, f, randomContent(t, resumeSize), f.announceURL())
	to.seed(t, c, f.Grid.Node("A", 0))
	d := f.startDaemon(t, f.Grid.Node("B", 0))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := make(chan error, 1)
	go func() { got <- to.get(ctx, d) }()
	had := d.awaitHave(t, resumeSize/2)
	if err := d.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err == nil || had.Have == resumeSize {
		t.Fatalf("whole before it was killed: %+v", had)
	}
	back := f.startDaemon(t, f.Grid.Node("B", 0))
	st := back.awaitHave(t, resumeSize)
	fetched := st.Traffic.WANIn + st.Traffic.LANIn - st.Duplicate
	t.Logf("it had %d bytes, and downloaded %d after its restart", had.Have, fetched)
	if lacked := int64(resumeSize) - had.Have; fetched > lacked {
		t.Errorf("downloaded %d bytes after the restart, needed at most %d", fetched, lacked)
	}
	to.mustGet(ctx, t, back)
}

// awaitReceived waits until a cluster has received that many bytes over the WAN.
func (f *Fleet) awaitReceived(ctx context.Context, t testing.TB, cluster string, n uint64) {
	t.Helper()
	for f.received(t, cluster)[0].Bytes < n {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s received only %d bytes", cluster, f.received(t, cluster)[0].Bytes)
		}
	}
}
