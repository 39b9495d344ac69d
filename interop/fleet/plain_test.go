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

// TestMobAdoptsTorrent has three clusters of nodes get a torrent of which only a stock
// client knows more than the file or the magnet link, in a fourth cluster. Each piece
// comes into each cluster once; in the end all nodes have the same manifest, by which one
// more gets the content when the client is gone.
func TestMobAdoptsTorrent(t *testing.T) {
	eachClient(t, func(t *testing.T, c *stock.Client) {
		f, clusters := withGuests(t, netns.Fast(), 1, 2, 2, 2)
		o := newOffer(t, f.Grid.Node("A", 0), 48e6)
		seed := o.client(t, f, c, f.Grid.Node("A", 0), true)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		_, hash, _ := strings.Cut(o.link, "urn:btih:")
		_, tracker, _ := strings.Cut(o.link, "&tr=")
		magnet := "magnet:?xt=urn:btih:" + hash[:40] + "&tr=" + tracker
		var daemons []*Daemon
		before := map[string]uint64{}
		for _, cluster := range clusters[1:] {
			for i := range 2 {
				d, err := f.StartDaemon(f.Grid.Node(cluster, i))
				if err != nil {
					t.Fatal(err)
				}
				daemons = append(daemons, d)
			}
			n, err := f.Grid.WANBytes(cluster)
			if err != nil {
				t.Fatal(err)
			}
			before[cluster] = n
		}
		var wg sync.WaitGroup
		for i, d := range daemons {
			wg.Go(func() {
				if err := d.Get(ctx, []string{magnet, o.torrent}[i%2]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, d := range daemons {
			o.mustEqual(t, d.Out())
		}
		for _, cluster := range clusters[1:] {
			n, err := f.Grid.WANBytes(cluster)
			if err != nil {
				t.Fatal(err)
			}
			if copies := float64(n-before[cluster]) / float64(o.size); copies > 1.05 {
				t.Errorf("%.3f copies came into %s, at most 1.05", copies, cluster)
			} else {
				t.Logf("%s: %.3f copies", cluster, copies)
			}
		}
		id := manifestOfAll(ctx, t, daemons)
		if _, err := seed.Kill(); err != nil {
			t.Fatal(err)
		}
		late := startOn(t, f, f.Grid.Node("A", 0), "late")
		if err := late.Get(ctx, "magnet:?xt="+id); err != nil {
			t.Fatal(err)
		}
		o.mustEqual(t, late.Out())
	})
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
