package bench

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// TestMobAdoptsTorrent has daemons get a torrent that only a stock client has, by the
// torrent file or a magnet link. In the end all must have the same manifest, by which one
// more daemon gets the content when the client is gone.
func TestMobAdoptsTorrent(t *testing.T) {
	t.Parallel()
	c := stock.Libtorrent()
	needsClients(t, c)
	f, clusters := newTorrentFleet(t, netns.Fast(), 1, 2, 2)
	to := newTorrent(t, f, randomContent(t, 12e6), f.announceURL())
	seed := to.seed(t, c, f.Grid.Node("A", 0))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var daemons []*Daemon
	var wg sync.WaitGroup
	for _, cluster := range clusters[1:] {
		for i, what := range []string{to.magnet(t), to.file} {
			d := f.startDaemon(t, f.Grid.Node(cluster, i))
			daemons = append(daemons, d)
			wg.Go(func() {
				if err := d.Get(ctx, what); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for _, d := range daemons {
		mustEqual(t, to.path, d.Out())
	}
	urn := awaitManifest(ctx, t, daemons)
	if err := seed.Kill(); err != nil {
		t.Fatal(err)
	}
	late := f.startAlone(t, f.Grid.Node("A", 0), "late")
	if err := late.Get(ctx, "magnet:?xt="+urn); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, to.path, late.Out())
}

// awaitManifest waits until the links of all daemons have the same manifest, and returns
// its URN.
func awaitManifest(ctx context.Context, t *testing.T, daemons []*Daemon) (urn string) {
	t.Helper()
	for {
		found := map[string]int{}
		for _, d := range daemons {
			st, err := d.Status(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, after, ok := strings.Cut(st, "urn:mob:"); ok {
				urn = "urn:mob:" + after[:strings.IndexAny(after, `\"&`)]
				found[urn]++
			}
		}
		if found[urn] == len(daemons) {
			return urn
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("manifests %v", found)
		}
	}
}
