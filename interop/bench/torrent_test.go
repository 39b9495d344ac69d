package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/proto"
)

// torrent is content that daemons and stock clients can download.
type torrent struct {
	fleet *Fleet
	// path is the path of the content, file the path of the torrent file, or a magnet link for
	// clients.
	path, file string
	// link is mob's link.
	link string
	// plain says that no daemon serves the content, so that daemons get it by file.
	plain bool
}

// newTorrent makes a torrent of content that no node serves.
func newTorrent(t testing.TB, f *Fleet, path, announceURL string) *torrent {
	t.Helper()
	maker := f.startAlone(t, f.trackerNode, "maker")
	to := seedTorrent(t, maker, path, announceURL)
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	to.plain = true
	return to
}

// seedTorrent has a daemon serve content to stock clients too.
func seedTorrent(t testing.TB, d *Daemon, path, announceURL string) *torrent {
	t.Helper()
	to := &torrent{fleet: d.fleet, path: path, file: filepath.Join(t.TempDir(), "x.torrent")}
	var err error
	to.link, err = d.SeedTorrent(t.Context(), path, to.file, announceURL)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// parsed is the parsed link.
func (to *torrent) parsed(t testing.TB) *proto.Link {
	t.Helper()
	link, err := proto.ParseLink(to.link)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// magnet is a link with nothing but what BitTorrent clients know.
func (to *torrent) magnet(t testing.TB) string {
	t.Helper()
	link := to.parsed(t)
	return (&proto.Link{InfoHash: link.InfoHash, Announce: link.Announce}).String()
}

// get has a daemon download the content to [Daemon.Out].
func (to *torrent) get(ctx context.Context, d *Daemon) error {
	if to.plain {
		return d.Get(ctx, to.file)
	}
	return d.Get(ctx, to.link)
}

// mustGet has all daemons download at the same time. Every copy must be intact.
func (to *torrent) mustGet(ctx context.Context, t testing.TB, all ...*Daemon) {
	t.Helper()
	errs := make(chan error, len(all))
	for _, d := range all {
		go func() { errs <- to.get(ctx, d) }()
	}
	for range all {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for _, d := range all {
		if t.Failed() {
			st, _ := d.mob(t.Context(), "status", to.link)
			t.Log(st)
			continue
		}
		mustEqual(t, to.path, d.Out())
	}
}

// seed starts a stock client that has the content.
func (to *torrent) seed(t testing.TB, c *stock.Client, node *netns.Node) *stock.Instance {
	t.Helper()
	return to.start(t, c, node, to.path)
}

// download starts a stock client that does not have the content.
func (to *torrent) download(t testing.TB, c *stock.Client, node *netns.Node) *stock.Instance {
	t.Helper()
	return to.start(t, c, node, "")
}

func (to *torrent) start(t testing.TB, c *stock.Client, node *netns.Node, content string) *stock.Instance {
	t.Helper()
	i, err := c.New(stock.Config{
		Node:    node,
		Dir:     filepath.Join(to.fleet.Dir, "stock"),
		Torrent: to.file,
		Name:    filepath.Base(to.path),
		Content: content,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(i.Log())
			t.Logf("%v: %s", i, log[max(0, len(log)-1000):])
		}
		if err := i.Kill(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// mustComplete waits until a client reports a complete copy, which must be intact.
func (to *torrent) mustComplete(ctx context.Context, t testing.TB, i *stock.Instance) {
	t.Helper()
	await(ctx, t, i)
	mustEqual(t, to.path, i.Copy())
}

// await waits until a client reports a complete copy.
func await(ctx context.Context, t testing.TB, i *stock.Instance) {
	t.Helper()
	began := time.Now()
	if err := i.Fetch(ctx); err != nil {
		t.Fatalf("%v: %v", i, err)
	}
	t.Logf("%v: %.2fs", i, time.Since(began).Seconds())
}

// newTorrentFleet is a fleet for BitTorrent clients too, with a tracker on the first node.
func newTorrentFleet(t testing.TB, links netns.Links, nodes ...int) (*Fleet, []string) {
	t.Helper()
	f, clusters := newFleet(t, links, nodes...)
	f.BitTorrent, f.Debug = true, true
	f.startTracker(t, f.Grid.Node(clusters[0], 0))
	return f, clusters
}

// announceURL is the place where BitTorrent clients announce to the tracker.
func (f *Fleet) announceURL() string {
	return fmt.Sprintf("http://%s:%d/announce", f.trackerNode.IP, stock.TrackerPort)
}

// KillTracker ends the tracker with SIGKILL.
func (f *Fleet) KillTracker() error { return f.tracker.Kill() }

// SeedTorrent serves a file or directory to BitTorrent clients as well, which announce to a
// tracker. It writes a torrent file and returns a link that is a magnet link for them too.
func (d *Daemon) SeedTorrent(ctx context.Context, path, torrent, announceURL string) (link string, err error) {
	return d.Seed(ctx, path, "--torrent-file", torrent, "--bt-tracker", announceURL)
}
