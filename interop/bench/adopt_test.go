package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// TestMobAdoptsTorrent makes daemons get a torrent that only a stock client has, by the
// torrent file or a magnet link. One more daemon gets the content by the magnet link when the client has exited.
func TestMobAdoptsTorrent(t *testing.T) {
	t.Parallel()
	c := stock.Find("libtorrent")
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
	if err := seed.Kill(); err != nil {
		t.Fatal(err)
	}
	late := f.startAlone(t, f.Grid.Node("A", 0), "late")
	if err := late.Get(ctx, to.magnet(t)); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, to.path, late.Out())
}
