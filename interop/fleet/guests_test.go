package fleet

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// offer is a content that is offered to nodes and to stock clients.
type offer struct {
	path, torrent, link string
	id                  string
	manifest, info      []byte
	name                string
	size                int64
}

// newOffer makes a content of n bytes whose tracker is the fleet's.
func newOffer(t testing.TB, tracker *netns.Node, n int64) *offer {
	t.Helper()
	o := &offer{path: content(t, n), name: "content.bin", size: n, torrent: filepath.Join(t.TempDir(), "content.torrent")}
	m, sums, err := store.ScanSHA1(t.Context(), o.path, store.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := metainfo.Build(m, sums)
	if err == nil {
		o.manifest, err = m.Encode()
	}
	if err != nil {
		t.Fatal(err)
	}
	announce := fmt.Sprintf("http://%s:%d/announce", tracker.IP, TrackerPort)
	file := metainfo.Metainfo{Torrent: info, Trackers: [][]string{{announce}}}
	b, err := file.Encode()
	if err == nil {
		err = os.WriteFile(o.torrent, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	id := proto.ManifestCID(o.manifest)
	link := proto.Link{Manifest: id, Name: m.Name, Length: m.Length(), InfoHash: proto.InfoHash(info.Hash), Announce: []string{announce}}
	o.id, o.link, o.info = id.String(), link.String(), info.Info
	return o
}

// stage gives a daemon that is to start the manifest, and the content if it is to
// seed it.
func (o *offer) stage(t testing.TB, f *Fleet, name string, seed bool) {
	t.Helper()
	dir := filepath.Join(f.Dir, name, "transfers", o.id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"manifest": o.manifest}
	if seed {
		b, err := json.Marshal(map[string]any{"seed": true, "root": o.path, "link": o.link, "whole": true, "added": time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		files["transfer.json"], files["torrent"] = b, o.info
	}
	for file, b := range files {
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// daemon starts a daemon that has the manifest, and the content if it is to seed.
func (o *offer) daemon(t testing.TB, f *Fleet, node *netns.Node, seed bool) *Daemon {
	t.Helper()
	name := fmt.Sprintf("%s%d", node.Cluster, node.Index)
	o.stage(t, f, name, seed)
	d, err := f.StartDaemon(node)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(d.Log())
			t.Logf("%s: %s", d.Name(), log[max(0, len(log)-4000):])
		}
		if err := d.Kill(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// client starts a stock client on a node, with the content if it is to seed.
func (o *offer) client(t testing.TB, f *Fleet, c *stock.Client, node *netns.Node, seed bool) *stock.Runner {
	t.Helper()
	job := stock.Job{Node: node, Dir: filepath.Join(f.Dir, "stock"), Torrent: o.torrent, Scheme: "http", Name: o.name}
	if seed {
		job.Content = o.path
	}
	r, err := c.Run(job)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(r.Log())
			t.Logf("%v: %s", r, log[max(0, len(log)-2000):])
		}
		if _, err := r.Kill(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (o *offer) mustEqual(t testing.TB, path string) {
	t.Helper()
	want, err := os.ReadFile(o.path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs: %d bytes, %v", path, len(got), err)
	}
}

// withGuests is a fleet that lets guests in, with a tracker on the first node.
func withGuests(t testing.TB, links netns.Links, nodes ...int) (*Fleet, []string) {
	t.Helper()
	f, clusters := newFleet(t, links, nodes...)
	f.Guests = true
	if err := f.StartTracker(f.Grid.Node(clusters[0], 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.KillTracker(); err != nil {
			t.Error(err)
		}
	})
	return f, clusters
}

func eachClient(t *testing.T, test func(t *testing.T, c *stock.Client)) {
	t.Helper()
	for _, c := range stock.All() {
		t.Run(c.Name(), func(t *testing.T) {
			if err := c.Missing(); err != nil {
				t.Skip(err)
			}
			test(t, c)
		})
	}
}

// TestClientsDownload has a stock client fetch from a mob node far away, by a torrent
// file and by a link, for which the node has to tell what the torrent is.
func TestClientsDownload(t *testing.T) {
	for _, by := range []string{"file", "link"} {
		t.Run(by, func(t *testing.T) {
			eachClient(t, func(t *testing.T, c *stock.Client) { downloads(t, c, by == "link") })
		})
	}
}

func downloads(t *testing.T, c *stock.Client, byLink bool) {
	f, _ := withGuests(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
	o := newOffer(t, f.Grid.Node("A", 0), 24e6)
	d := o.daemon(t, f, f.Grid.Node("A", 0), true)
	if byLink {
		o.torrent = o.link
	}
	r := o.client(t, f, c, f.Grid.Node("B", 0), false)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	awaitWhole(ctx, t, r, d)
	t.Logf("%.2fs", time.Since(began).Seconds())
	o.mustEqual(t, r.Copy())
}

// TestClientFeedsMob has a stock client, as the only one that has the content, feed
// nodes in three other clusters: each byte enters each of them about once.
func TestClientFeedsMob(t *testing.T) {
	eachClient(t, func(t *testing.T, c *stock.Client) {
		f, clusters := withGuests(t, netns.Fast(), 1, 2, 2, 2)
		o := newOffer(t, f.Grid.Node("A", 0), 48e6)
		o.client(t, f, c, f.Grid.Node("A", 0), true)
		var daemons []*Daemon
		for _, cluster := range clusters[1:] {
			for i := range 2 {
				daemons = append(daemons, o.daemon(t, f, f.Grid.Node(cluster, i), false))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		began := time.Now()
		before := map[string]uint64{}
		for _, cluster := range clusters[1:] {
			n, err := f.Grid.WANBytes(cluster)
			if err != nil {
				t.Fatal(err)
			}
			before[cluster] = n
		}
		var wg sync.WaitGroup
		for _, d := range daemons {
			wg.Go(func() {
				if err := d.Get(ctx, o.link); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			for _, d := range daemons {
				st, _ := d.mob(t.Context(), "status", o.id)
				t.Log(st)
			}
			return
		}
		took := time.Since(began)
		for _, d := range daemons {
			o.mustEqual(t, d.Out())
		}
		for _, cluster := range clusters[1:] {
			n, err := f.Grid.WANBytes(cluster)
			if err != nil {
				t.Fatal(err)
			}
			copies := float64(n-before[cluster]) / float64(o.size)
			t.Logf("%s: %.3f copies", cluster, copies)
			if copies > 1.05 {
				t.Errorf("%.3f copies came into %s, at most 1.05", copies, cluster)
			}
		}
		t.Logf("%.2fs, %.2f MB/s", took.Seconds(), float64(o.size)/1e6/took.Seconds())
	})
}

// TestClientsDescribe asks a stock client in another cluster, that the tracker tells
// of, what a torrent is.
func TestClientsDescribe(t *testing.T) {
	eachClient(t, func(t *testing.T, c *stock.Client) {
		f, _ := withGuests(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
		o := newOffer(t, f.Grid.Node("A", 0), 8e6)
		o.client(t, f, c, f.Grid.Node("A", 0), true)
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
		link, err := proto.ParseLink(o.link)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
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

// TestLinkNamesItsNode has a stock client fetch by a link that mob seed printed, with no
// tracker: the link says where the node's door is.
func TestLinkNamesItsNode(t *testing.T) {
	c := stock.Libtorrent()
	if err := c.Missing(); err != nil {
		t.Skip(err)
	}
	f, _ := newFleet(t, netns.Uniform(12*netns.MBps, "A", "B"), 1, 1)
	f.Guests = true
	d, err := f.StartDaemon(f.Grid.Node("A", 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Kill(); err != nil {
			t.Error(err)
		}
	})
	o := &offer{path: content(t, 8e6), name: "content.bin"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if o.torrent, err = d.mob(ctx, "seed", "--torrent", o.path); err != nil {
		t.Fatal(err)
	}
	r := o.client(t, f, c, f.Grid.Node("B", 0), false)
	awaitWhole(ctx, t, r, d)
	o.mustEqual(t, r.Copy())
}

// awaitWhole waits until a client has all.
func awaitWhole(ctx context.Context, t *testing.T, r *stock.Runner, from *Daemon) {
	t.Helper()
	for {
		whole, err := r.Whole()
		if err != nil {
			t.Fatal(err)
		}
		if whole {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			st, _ := from.Status(t.Context())
			t.Fatalf("not whole: %s", st)
		}
	}
}
