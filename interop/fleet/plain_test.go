package fleet

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
)

// TestMobAdoptsTorrent has nodes get a torrent of which only a stock client knows more
// than the file or the magnet link. In the end all have the same manifest, by which one
// more gets the content when the client is gone.
func TestMobAdoptsTorrent(t *testing.T) {
	t.Parallel()
	c := stock.Libtorrent()
	needs(t, c)
	f, clusters := withGuests(t, netns.Fast(), 1, 2, 2)
	o := newOffer(t, f, content(t, 12e6), f.announce())
	seed := o.seed(t, c, f.Grid.Node("A", 0))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var daemons []*Daemon
	var wg sync.WaitGroup
	for _, cluster := range clusters[1:] {
		for i, what := range []string{o.magnet(t), o.torrent} {
			d := f.daemon(t, f.Grid.Node(cluster, i))
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
		mustEqual(t, o.path, d.Out())
	}
	id := manifestOfAll(ctx, t, daemons)
	if _, err := seed.Kill(); err != nil {
		t.Fatal(err)
	}
	late := startOn(t, f, f.Grid.Node("A", 0), "late")
	if err := late.Get(ctx, "magnet:?xt="+id); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, o.path, late.Out())
}

// manifestOfAll waits until all links have the same manifest in them.
func manifestOfAll(ctx context.Context, t *testing.T, daemons []*Daemon) (urn string) {
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
