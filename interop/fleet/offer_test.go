package fleet

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
)

// offer is a content that nodes and stock clients can fetch.
type offer struct {
	fleet *Fleet
	// path is the content's, torrent that of the torrent file, or a link for clients.
	path, torrent string
	// link is that of the node that made the torrent.
	link string
	// plain says that no node has the content any more, so that nodes get it by its
	// torrent.
	plain bool
}

// newOffer makes a torrent file of a content, whose tracker is at announce. Nobody
// serves it.
func newOffer(t testing.TB, f *Fleet, path, announce string) *offer {
	t.Helper()
	maker, err := f.StartNamed(f.node, "maker", "maker")
	if err != nil {
		t.Fatal(err)
	}
	o := offerAt(t, maker, path, announce)
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	o.plain = true
	return o
}

// offerAt has a node seed a content to stock clients too.
func offerAt(t testing.TB, d *Daemon, path, announce string) *offer {
	t.Helper()
	o := &offer{fleet: d.fleet, path: path, torrent: filepath.Join(t.TempDir(), "x.torrent")}
	var err error
	if o.link, err = d.Offer(t.Context(), path, o.torrent, announce); err != nil {
		t.Fatal(err)
	}
	return o
}

// get has a node fetch the offer to its [Daemon.Out].
func (o *offer) get(ctx context.Context, d *Daemon) error {
	if o.plain {
		return d.Get(ctx, o.torrent)
	}
	return d.Get(ctx, o.link)
}

// mustGet is get of all nodes at once, and every copy has to be intact.
func (o *offer) mustGet(ctx context.Context, t testing.TB, all ...*Daemon) {
	t.Helper()
	errs := make(chan error, len(all))
	for _, d := range all {
		go func() { errs <- o.get(ctx, d) }()
	}
	for range all {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for _, d := range all {
		if t.Failed() {
			st, _ := d.mob(t.Context(), "status", o.link)
			t.Log(st)
			continue
		}
		mustEqual(t, o.path, d.Out())
	}
}

// daemon starts a daemon for the length of a test.
func (f *Fleet) daemon(t testing.TB, node *netns.Node) *Daemon {
	t.Helper()
	d, err := f.StartDaemon(node)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(d.Log())
			t.Logf("%s: %s", d.Name(), log[max(0, len(log)-1500):])
		}
		if err := d.Kill(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// seed starts a stock client that has the offer.
func (o *offer) seed(t testing.TB, c *stock.Client, node *netns.Node) *stock.Runner {
	t.Helper()
	return o.run(t, c, node, o.path)
}

// fetch starts a stock client that lacks the offer.
func (o *offer) fetch(t testing.TB, c *stock.Client, node *netns.Node) *stock.Runner {
	t.Helper()
	return o.run(t, c, node, "")
}

func (o *offer) run(t testing.TB, c *stock.Client, node *netns.Node, content string) *stock.Runner {
	t.Helper()
	r, err := c.Run(stock.Job{
		Node: node, Dir: filepath.Join(o.fleet.Dir, "stock"), Torrent: o.torrent, Scheme: "http",
		Name: filepath.Base(o.path), Content: content,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(r.Log())
			t.Logf("%v: %s", r, log[max(0, len(log)-1000):])
		}
		if _, err := r.Kill(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// mustFetch waits until a client says that its copy is whole, and then it must be
// intact.
func (o *offer) mustFetch(ctx context.Context, t testing.TB, r *stock.Runner) {
	t.Helper()
	await(ctx, t, r)
	mustEqual(t, o.path, r.Copy())
}

// await waits until a client says that its copy is whole.
func await(ctx context.Context, t testing.TB, r *stock.Runner) {
	t.Helper()
	began := time.Now()
	if err := stock.Await(ctx, []*stock.Runner{r}, func(*netns.Node) {}); err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	t.Logf("%v: %.2fs", r, time.Since(began).Seconds())
}

// withGuests is a fleet that lets guests in, with a tracker on the first node, for
// them too.
func withGuests(t testing.TB, links netns.Links, nodes ...int) (*Fleet, []string) {
	t.Helper()
	f, clusters := newFleet(t, links, nodes...)
	f.Guests, f.Debug = true, true
	f.mustTrack(t, f.Grid.Node(clusters[0], 0))
	return f, clusters
}

// mustTrack starts the tracker for the length of a test.
func (f *Fleet) mustTrack(t testing.TB, node *netns.Node) {
	t.Helper()
	if err := f.StartTracker(node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.KillTracker(); err != nil {
			t.Error(err)
		}
	})
}

// eachClient runs a test with each of the stock clients that are installed.
func eachClient(t *testing.T, test func(t *testing.T, c *stock.Client)) {
	t.Helper()
	for _, c := range stock.All() {
		t.Run(c.Name(), func(t *testing.T) {
			needs(t, c)
			test(t, c)
		})
	}
}

// needs skips a test whose clients are not installed.
func needs(t testing.TB, clients ...*stock.Client) {
	t.Helper()
	for _, c := range clients {
		if err := c.Installed(); err != nil {
			t.Skip(err)
		}
	}
}
