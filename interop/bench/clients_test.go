package bench

import (
	"context"
	"crypto/sha1"
	"net"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/proto"
)

// TestClientsTakeLinks makes a stock client download by a magnet link, so that it gets the
// info dictionary from the daemon.
func TestClientsTakeLinks(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c *stock.Client) {
		t.Parallel()
		f, _ := newTorrentFleet(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
		to := seedTorrent(t, f.startDaemon(t, f.Grid.Node("A", 0)), randomContent(t, 12e6), f.announceURL())
		to.file = to.link
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		to.mustComplete(ctx, t, to.download(t, c, f.Grid.Node("B", 0)))
	})
}

// TestLinkNamesItsNode makes a stock client download by a link of mob seed, without a
// tracker: the link has the address at which the daemon accepts BitTorrent clients.
func TestLinkNamesItsNode(t *testing.T) {
	t.Parallel()
	c := stock.Find("libtorrent")
	needsClients(t, c)
	f, _ := newFleet(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
	f.BitTorrent, f.Debug = true, true
	d := f.startDaemon(t, f.Grid.Node("A", 0))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	to := &torrent{fleet: f, path: randomContent(t, 8e6)}
	var err error
	to.file, err = d.Seed(ctx, to.path, "--torrent")
	if err != nil {
		t.Fatal(err)
	}
	to.mustComplete(ctx, t, to.download(t, c, f.Grid.Node("B", 0)))
}

// TestClientsDescribe gets the info dictionary from a stock client in another cluster,
// which the tracker returns.
func TestClientsDescribe(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c *stock.Client) {
		t.Parallel()
		f, _ := newTorrentFleet(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
		to := newTorrent(t, f, randomContent(t, 8e6), f.announceURL())
		to.seed(t, c, f.Grid.Node("A", 0))
		far := f.Grid.Node("B", 0)
		dial := func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
			err = far.Do(func() error {
				conn, err = new(net.Dialer).DialContext(ctx, network, addr)
				return err
			})
			return conn, err
		}
		server, err := bittorrent.Listen(bittorrent.Config{Listen: "127.0.0.1:0", Client: "mob test", Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		link := to.parsed(t)
		info, err := server.Describe(ctx, link)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bytes in %.2fs", len(info), time.Since(began).Seconds())
		if proto.InfoHash(sha1.Sum(info)) != link.InfoHash {
			t.Error("the info dictionary is of another torrent")
		}
	})
}

// TestClientFeedsMob uses a stock client as the only seed of daemons in three other
// clusters: each byte must enter each cluster about once. In TestOddNames every client feeds a daemon.
func TestClientFeedsMob(t *testing.T) {
	t.Parallel()
	c := stock.Find("libtorrent")
	needsClients(t, c)
	const size = 96e6 // the end of a transfer costs a megabyte twice, whatever its size
	f, clusters := newTorrentFleet(t, netns.Fast(), 1, 3, 3, 3)
	to := newTorrent(t, f, randomContent(t, size), f.announceURL())
	to.seed(t, c, f.Grid.Node("A", 0))
	var daemons []*Daemon
	for _, cluster := range clusters[1:] {
		for i := range 3 {
			daemons = append(daemons, f.startDaemon(t, f.Grid.Node(cluster, i)))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	before := f.received(t, clusters[1:]...)
	began := time.Now()
	to.mustGet(ctx, t, daemons...)
	t.Logf("%.2f MB/s", size/1e6/time.Since(began).Seconds())
	for i, n := range f.received(t, clusters[1:]...) {
		c := newClusterCopies(clusters[1+i], n.Sub(before[i]), size)
		t.Log(c)
		if err := c.CheckContent(0); err != nil {
			t.Error(err)
		}
	}
}

// TestOpentracker makes daemons and a stock client find a stock seed by opentracker, while
// mob's own tracker serves daemons only.
func TestOpentracker(t *testing.T) {
	t.Parallel()
	c, tracker := stock.Find("aria2"), stock.Opentracker()
	needsClients(t, c)
	if err := tracker.Missing; err != nil {
		t.Skip(err)
	}
	f, _ := newFleet(t, netns.Uniform(6*netns.MBps, "A", "B"), 1, 3)
	f.startTracker(t, f.Grid.Node("A", 0))
	f.BitTorrent, f.Debug = true, true
	to := newTorrent(t, f, randomContent(t, 8e6), tracker.URL(f.Grid.Node("A", 0)))
	running, err := tracker.Start(f.Grid.Node("A", 0), t.TempDir(), to.parsed(t).InfoHash)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Kill(); err != nil {
			t.Error(err)
		}
	})
	to.seed(t, c, f.Grid.Node("A", 0))
	first, second := f.startDaemon(t, f.Grid.Node("B", 0)), f.startDaemon(t, f.Grid.Node("B", 1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	to.mustGet(ctx, t, first, second)
	to.mustComplete(ctx, t, to.download(t, c, f.Grid.Node("B", 2)))
}
