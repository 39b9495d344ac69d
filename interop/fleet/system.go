package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// System is the built programs under comparison.
type System struct {
	// Bin is the folder of the programs mob and mobd.
	Bin string
	// Seed are options of mob seed for the content, without the dashes in front.
	Seed []string
	// Instead is that of [Fleet].
	Instead map[string][]string
}

// Name implements bench.System: it is mob, or such as mob:coded=32.
func (s System) Name() string { return strings.Join(append([]string{"mob"}, s.Seed...), ":") }

// Missing implements bench.System.
func (s System) Missing() error {
	for _, name := range []string{"mob", "mobd"} {
		if _, err := os.Stat(filepath.Join(s.Bin, name)); err != nil {
			return fmt.Errorf("%s is not in %s: build both programs into one folder (make build)", name, s.Bin)
		}
	}
	return nil
}

// Prepare implements bench.System: a tracker beside the source, a daemon on every
// node, and the content seeded.
func (s System) Prepare(ctx context.Context, site bench.Site) (bench.Transfer, error) {
	var flags []string
	for _, option := range s.Seed {
		flags = append(flags, "--"+option)
	}
	return (&Fleet{Grid: site.Grid, Bin: s.Bin, Dir: site.Dir, Instead: s.Instead}).prepare(ctx, site, flags...)
}

// prepare starts all of a transfer, and seeds with these flags. With guests the content
// is offered to them too.
func (f *Fleet) prepare(ctx context.Context, site bench.Site, flags ...string) (*Transfer, error) {
	t := &Transfer{Fleet: f, gets: map[*netns.Node]*get{}}
	err := t.startAll(ctx, site)
	if err == nil && f.Guests {
		t.link, err = t.Source.Offer(ctx, site.Content, t.torrent(), f.announce())
	} else if err == nil {
		t.link, err = t.Source.Seed(ctx, site.Content, flags...)
	}
	if err != nil {
		_, closed := t.Close()
		return nil, errors.Join(err, closed)
	}
	return t, nil
}

// Transfer is one content on its way from a source to every other node.
type Transfer struct {
	*Fleet
	// Source serves, Daemons get; Source is not among them.
	Source  *Daemon
	Daemons []*Daemon

	link string
	gets map[*netns.Node]*get

	// mu guards what follows, and the fields of every get.
	mu   sync.Mutex
	used bench.Usage
}

// get is the fetching of one daemon.
type get struct {
	daemon *Daemon
	cancel context.CancelFunc
	killed bool
}

// startAtOnce is how many daemons start at a time.
const startAtOnce = 4

// torrent is the path of the torrent file, for guests.
func (t *Transfer) torrent() string { return filepath.Join(t.Dir, "content.torrent") }

// startAll runs the tracker and all daemons.
func (t *Transfer) startAll(ctx context.Context, site bench.Site) (err error) {
	if err := t.StartTracker(site.Source); err != nil {
		return err
	}
	if t.Source, err = t.StartDaemon(site.Source); err != nil {
		return err
	}
	t.Daemons = make([]*Daemon, len(site.Receivers))
	errs := make([]error, len(site.Receivers))
	room := make(chan struct{}, startAtOnce)
	var wg sync.WaitGroup
	for i, n := range site.Receivers {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				t.Daemons[i], errs[i] = t.StartDaemon(n)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, d := range t.Daemons {
		t.gets[d.Node] = &get{daemon: d}
	}
	return nil
}

// all are the daemons, and the source's.
func (t *Transfer) all() []*Daemon { return append([]*Daemon{t.Source}, t.Daemons...) }

// Fetch implements bench.Transfer.
func (t *Transfer) Fetch(ctx context.Context, whole func(n *netns.Node)) error {
	for _, d := range t.all() {
		used, err := d.CPU()
		if err != nil {
			return err
		}
		t.used.CPU -= used // for the start, and for hashing
	}
	errs := make([]error, len(t.Daemons))
	var wg sync.WaitGroup
	for i, d := range t.Daemons {
		g := t.gets[d.Node]
		getting, cancel := context.WithCancel(ctx)
		defer cancel()
		t.mu.Lock()
		g.cancel = cancel
		t.mu.Unlock()
		wg.Go(func() {
			used, err := d.get(getting, t.link)
			t.mu.Lock()
			t.used.CPU += used
			killed := g.killed
			t.mu.Unlock()
			switch {
			case killed: // however far it came
			case err != nil:
				errs[i] = err
			default:
				whole(d.Node)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Copy implements bench.Transfer.
func (t *Transfer) Copy(n *netns.Node) string { return t.gets[n].daemon.Out() }

// Kill implements bench.Transfer: the daemon, and the command that waits for it.
func (t *Transfer) Kill(n *netns.Node) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.gets[n]
	g.killed = true
	t.count(g.daemon)
	if g.cancel != nil {
		g.cancel()
	}
	return g.daemon.Kill()
}

// count adds what a daemon has used so far, unless it has ended.
func (t *Transfer) count(d *Daemon) {
	if cpu, err := d.CPU(); err == nil {
		t.used.CPU += cpu
	}
	if _, peak, err := d.Memory(); err == nil {
		t.used.Peak = max(t.used.Peak, peak)
	}
}

// Close implements bench.Transfer.
func (t *Transfer) Close() (bench.Usage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, d := range t.all() {
		if d != nil {
			t.count(d)
			errs = append(errs, d.Kill())
		}
	}
	if t.tracker != nil {
		errs = append(errs, t.KillTracker())
	}
	return t.used, errors.Join(errs...)
}
