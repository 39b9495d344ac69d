package fleet

import (
	"context"
	"crypto/sha1"
	"net"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
	"github.com/mobgrid/mob/proto"
)

// TestClientsTakeLinks has a stock client fetch by a link, for which the node has to
// tell what the torrent is.
func TestClientsTakeLinks(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c *stock.Client) {
		t.Parallel()
		f, _ := withGuests(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
		o := offerAt(t, f.daemon(t, f.Grid.Node("A", 0)), content(t, 12e6), f.announce())
		o.torrent = o.link
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		o.mustFetch(ctx, t, o.fetch(t, c, f.Grid.Node("B", 0)))
	})
}

// TestLinkNamesItsNode has a stock client fetch by a link that mob seed printed, with no
// tracker: the link says where the node's door is.
func TestLinkNamesItsNode(t *testing.T) {
	t.Parallel()
	c := stock.Libtorrent()
	needs(t, c)
	f, _ := newFleet(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
	f.Guests, f.Debug = true, true
	d := f.daemon(t, f.Grid.Node("A", 0))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := &offer{fleet: f, path: content(t, 8e6)}
	var err error
	if o.torrent, err = d.mob(ctx, "seed", "--torrent", o.path); err != nil {
		t.Fatal(err)
	}
	o.mustFetch(ctx, t, o.fetch(t, c, f.Grid.Node("B", 0)))
}

// TestClientsDescribe asks a stock client in another cluster, that the tracker tells
// of, what a torrent is.
func TestClientsDescribe(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c *stock.Client) {
		t.Parallel()
		f, _ := withGuests(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
		o := newOffer(t, f, content(t, 8e6), f.announce())
		o.seed(t, c, f.Grid.Node("A", 0))
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
		link := o.parsed(t)
		info, err := server.Describe(ctx, link)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bytes in %.2fs", len(info), time.Since(began).Seconds())
		if proto.InfoHash(sha1.Sum(info)) != link.InfoHash {
			t.Error("it is the info dictionary of another torrent")
		}
	})
}

// TestClientFeedsMob has a stock client, as the only one that has the content, feed
// nodes in three other clusters: each byte enters each of them about once.
func TestClientFeedsMob(t *testing.T) {
	eachClient(t, func(t *testing.T, c *stock.Client) {
		const size = 96e6 // the end of a transfer costs a megabyte twice, whatever its size
		f, clusters := withGuests(t, netns.Fast(), 1, 3, 3, 3)
		o := newOffer(t, f, content(t, size), f.announce())
		o.seed(t, c, f.Grid.Node("A", 0))
		var daemons []*Daemon
		for _, cluster := range clusters[1:] {
			for i := range 3 {
				daemons = append(daemons, f.daemon(t, f.Grid.Node(cluster, i)))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		before := f.received(t, clusters[1:])
		began := time.Now()
		o.mustGet(ctx, t, daemons...)
		t.Logf("%.2f MB/s", size/1e6/time.Since(began).Seconds())
		for i, n := range f.received(t, clusters[1:]) {
			c := bench.NewClusterCopies(clusters[1+i], n.Sub(before[i]), size)
			t.Log(c)
			if err := c.CheckContent(0); err != nil {
				t.Error(err)
			}
		}
	})
}

// received is what has come into clusters so far.
func (f *Fleet) received(t testing.TB, clusters []string) []netns.Count {
	t.Helper()
	all := make([]netns.Count, len(clusters))
	for i, cluster := range clusters {
		var err error
		if all[i], err = f.Grid.WAN(cluster); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestOpentracker has nodes and a client find a stock seed by opentracker, while
// mob's own tracker serves nodes only.
func TestOpentracker(t *testing.T) {
	t.Parallel()
	c, tracker := stock.Aria2(), stock.Opentracker()
	needs(t, c)
	if err := tracker.Missing(); err != nil {
		t.Skip(err)
	}
	f, _ := newFleet(t, netns.Uniform(6*netns.MBps, "A", "B"), 1, 3)
	f.mustTrack(t, f.Grid.Node("A", 0))
	f.Guests, f.Debug = true, true
	o := newOffer(t, f, content(t, 8e6), tracker.URL(f.Grid.Node("A", 0)))
	end, err := tracker.Run(f.Grid.Node("A", 0), t.TempDir(), o.parsed(t).InfoHash)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	o.seed(t, c, f.Grid.Node("A", 0))
	first, second := f.daemon(t, f.Grid.Node("B", 0)), f.daemon(t, f.Grid.Node("B", 1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.mustGet(ctx, t, first, second)
	o.mustFetch(ctx, t, o.fetch(t, c, f.Grid.Node("B", 2)))
}

// parsed is the link.
func (o *offer) parsed(t testing.TB) *proto.Link {
	t.Helper()
	link, err := proto.ParseLink(o.link)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// magnet is a link that says no more than a BitTorrent client's.
func (o *offer) magnet(t testing.TB) string {
	t.Helper()
	link := o.parsed(t)
	return (&proto.Link{InfoHash: link.InfoHash, Announce: link.Announce}).String()
}
