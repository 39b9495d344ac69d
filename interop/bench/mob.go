package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// Mob is the programs mob and mobd as a system: a daemon on every node, and a tracker on
// the source's.
type Mob struct {
	// Bin is the directory of the programs mob and mobd.
	Bin string
	// Options follow the name. They are FlatOption, PipeOption, ShuffledOption, and options of mob seed for the content, without
	// the leading dashes.
	Options []string
	// Instead is as in [Fleet].
	Instead map[string][]string
}

// The options that are not of mob seed: daemons know their site only, receivers get the content to standard output, and
// plans know nothing of clusters, so that a chain is in no order.
const (
	FlatOption     = "site"
	PipeOption     = "pipe"
	ShuffledOption = "shuffled"
)

// Name implements [System]: it is such as mob, mob:coded=32 or mob:site.
func (m Mob) Name() string { return strings.Join(append([]string{"mob"}, m.Options...), ":") }

// Has reports whether the system has an option.
func (m Mob) Has(option string) bool { return slices.Contains(m.Options, option) }

// SeedOptions returns the options of mob seed.
func (m Mob) SeedOptions() []string {
	return slices.DeleteFunc(slices.Clone(m.Options), func(o string) bool { return o == FlatOption || o == PipeOption || o == ShuffledOption })
}

// Missing implements [System].
func (m Mob) Missing() error { return missingBuilt(m.Bin, "mob", "mobd") }

// missingBuilt is nil if programs of this project are in a directory.
func missingBuilt(bin string, programs ...string) error {
	for _, name := range programs {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("%s is not in %s: build all programs into one directory (make build)", name, bin)
		}
	}
	return nil
}

// Prepare implements [System]: it starts the tracker and all daemons, and seeds the content.
func (m Mob) Prepare(ctx context.Context, site Site) (Transfer, error) {
	f := &Fleet{Grid: site.Grid, Bin: m.Bin, Dir: site.Dir, Instead: m.Instead, Flat: m.Has(FlatOption), Pipe: m.Has(PipeOption)}
	var flags []string
	for _, option := range m.SeedOptions() {
		flags = append(flags, "--"+option)
		if !strings.HasPrefix(option, PlanOption) {
			continue
		}
		file, err := m.topology(site, f)
		if err != nil {
			return nil, err
		}
		flags = append(flags, "--topology", file)
	}
	t := &mobTransfer{Fleet: f, swarm: swarm{receivers: map[*netns.Node]receiver{}}}
	if err := t.start(ctx, site, flags); err != nil {
		_, closed := t.Close()
		return nil, errors.Join(err, closed)
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
	if m.Has(ShuffledOption) {
		f.Hosts = shuffle(t, site.Case.Seed)
	}
	file = filepath.Join(site.Dir, "topology.toml")
	return file, os.WriteFile(file, []byte(writeTopology(t)), 0o600)
}

// mobTransfer is content that daemons download from a source.
type mobTransfer struct {
	*Fleet
	swarm
	Source  *Daemon
	Daemons []*Daemon // that download
}

// start starts the programs and seeds the content. The caller closes the transfer if it fails.
func (t *mobTransfer) start(ctx context.Context, site Site, flags []string) error {
	if err := t.StartTracker(site.Source); err != nil {
		return err
	}
	t.uncounted = t.tracker
	var err error
	t.Source, err = t.StartDaemon(site.Source)
	if err != nil {
		return err
	}
	t.source = t.Source
	t.Daemons = make([]*Daemon, len(site.Receivers))
	err = netns.Concurrently(len(site.Receivers), func(i int) (err error) {
		if err = ctx.Err(); err == nil {
			t.Daemons[i], err = t.StartDaemon(site.Receivers[i])
		}
		return err
	})
	for _, d := range t.Daemons {
		if d != nil {
			t.receivers[d.Node] = d
		}
	}
	if err != nil {
		return err
	}
	link, err := t.Source.Seed(ctx, site.Content, flags...)
	for _, d := range t.Daemons {
		d.link = link
	}
	return err
}
