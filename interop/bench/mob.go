package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mobgrid/mob/interop/netns"
)

// Mob is the programs mob and mobd as a system: a daemon on every node, and a tracker on
// the source's.
type Mob struct {
	// Bin is the directory of the programs mob and mobd.
	Bin string
	// Seed are options of mob seed for the content, without the leading dashes.
	Seed []string
	// Instead and Flat are as in [Fleet].
	Instead map[string][]string
	Flat    bool
	// Shuffled has plans know nothing of clusters, so that a chain is in no order.
	Shuffled bool
}

// FlatOption follows the name of mob, and a colon, in the name of a [Mob] that is flat.
const FlatOption = "site"

// ShuffledOption likewise has a [Mob] shuffled.
const ShuffledOption = "shuffled"

// Name implements [System]: it is such as mob, mob:coded=32 or mob:site.
func (m Mob) Name() string {
	parts := []string{"mob"}
	if m.Flat {
		parts = append(parts, FlatOption)
	}
	if m.Shuffled {
		parts = append(parts, ShuffledOption)
	}
	return strings.Join(append(parts, m.Seed...), ":")
}

// Missing implements [System].
func (m Mob) Missing() error { return missingBuilt(m.Bin, "mob", "mobd") }

// missingBuilt is nil if programs of this project are in a directory.
func missingBuilt(bin string, programs ...string) error {
	for _, name := range programs {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("%s is not in %s: build all programs into one folder (make build)", name, bin)
		}
	}
	return nil
}

// Prepare implements [System]: it starts the tracker and all daemons, and seeds the content.
func (m Mob) Prepare(ctx context.Context, site Site) (Transfer, error) {
	t := m.transfer(site)
	var flags []string
	for _, option := range m.Seed {
		flags = append(flags, "--"+option)
		if !strings.HasPrefix(option, PlanOption) {
			continue
		}
		file, err := m.topology(site, t.Fleet)
		if err != nil {
			return nil, err
		}
		flags = append(flags, "--topology", file)
	}
	seed := func() (string, error) { return t.Source.Seed(ctx, site.Content, flags...) }
	if err := t.prepare(ctx, site, seed); err != nil {
		return nil, err
	}
	return t, nil
}

// PlanOption is the beginning of the option of mob seed that has the transfer follow a plan.
const PlanOption = "plan="

// topology writes what a plan is made for, and has daemons know the names of their hosts.
func (m Mob) topology(site Site, f *Fleet) (file string, err error) {
	t := site.Case.Topology(netns.TCPShare)
	f.Hosts = map[string]string{}
	for _, h := range t.Hosts {
		f.Hosts[h.Name] = h.Name
	}
	if m.Shuffled {
		f.Hosts = shuffle(t, site.Case.Seed)
	}
	file = filepath.Join(site.Dir, "topology.toml")
	return file, os.WriteFile(file, []byte(writeTopology(t)), 0o600)
}

func (m Mob) transfer(site Site) *mobTransfer {
	return &mobTransfer{
		Fleet: &Fleet{Grid: site.Grid, Bin: m.Bin, Dir: site.Dir, Instead: m.Instead, Flat: m.Flat},
		gets:  map[*netns.Node]*mobGet{},
	}
}

// mobTransfer is content that daemons download from a source.
type mobTransfer struct {
	*Fleet
	// Source serves; Daemons, which it is not among, download.
	Source  *Daemon
	Daemons []*Daemon

	link string
	gets map[*netns.Node]*mobGet

	// mu guards what follows, and the fields of every get.
	mu   sync.Mutex
	used netns.Usage
}

// mobGet is the download of one daemon.
type mobGet struct {
	daemon *Daemon
	cancel context.CancelFunc
	killed bool
}

// prepare starts the programs and seeds the content. If it fails it ends them.
func (t *mobTransfer) prepare(ctx context.Context, site Site, seed func() (link string, err error)) error {
	err := t.startAll(ctx, site)
	if err == nil {
		t.link, err = seed()
	}
	if err != nil {
		_, closed := t.Close()
		return errors.Join(err, closed)
	}
	return nil
}

// startAtOnce is the number of daemons that start concurrently.
const startAtOnce = 4

// startAll runs the tracker and all daemons.
func (t *mobTransfer) startAll(ctx context.Context, site Site) (err error) {
	if err := t.StartTracker(site.Source); err != nil {
		return err
	}
	t.Source, err = t.StartDaemon(site.Source)
	if err != nil {
		return err
	}
	t.Daemons = make([]*Daemon, len(site.Receivers))
	errs := make([]error, len(site.Receivers))
	slots := make(chan struct{}, startAtOnce)
	var wg sync.WaitGroup
	for i, n := range site.Receivers {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = ctx.Err()
			if errs[i] == nil {
				t.Daemons[i], errs[i] = t.StartDaemon(n)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, d := range t.Daemons {
		t.gets[d.Node] = &mobGet{daemon: d}
	}
	return nil
}

// all lists every daemon, the source first.
func (t *mobTransfer) all() []*Daemon { return append([]*Daemon{t.Source}, t.Daemons...) }

// Fetch implements [Transfer].
func (t *mobTransfer) Fetch(ctx context.Context, whole func(n *netns.Node)) error {
	for _, d := range t.all() {
		used, err := d.Usage()
		if err != nil {
			return err
		}
		t.used.CPU -= used.CPU // of the start, and of hashing
	}
	errs := make([]error, len(t.Daemons))
	var wg sync.WaitGroup
	for i, d := range t.Daemons {
		g := t.gets[d.Node]
		getCtx, cancel := context.WithCancel(ctx)
		defer cancel()
		t.mu.Lock()
		g.cancel = cancel
		t.mu.Unlock()
		wg.Go(func() {
			cpu, err := d.get(getCtx, t.link)
			t.mu.Lock()
			t.used.CPU += cpu
			killed := g.killed
			t.mu.Unlock()
			switch {
			case killed: // whether it was complete or not
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

// Copy implements [Transfer].
func (t *mobTransfer) Copy(n *netns.Node) string { return t.gets[n].daemon.Out() }

// Kill implements [Transfer]: it kills the daemon, and ends the command that waits for it.
func (t *mobTransfer) Kill(n *netns.Node) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.gets[n]
	g.killed = true
	t.addUsage(g.daemon)
	if g.cancel != nil {
		g.cancel()
	}
	return g.daemon.Kill()
}

// addUsage adds the resources of a daemon, unless it has ended already.
func (t *mobTransfer) addUsage(d *Daemon) {
	if used, err := d.Usage(); err == nil {
		t.used.Add(used)
	}
}

// Close implements [Transfer].
func (t *mobTransfer) Close() (netns.Usage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, d := range t.all() {
		if d != nil {
			t.addUsage(d)
			errs = append(errs, d.Kill())
		}
	}
	if t.tracker != nil {
		errs = append(errs, t.KillTracker())
	}
	return t.used, errors.Join(errs...)
}
