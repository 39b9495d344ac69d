package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// Mixed is mob with stock clients in the same transfer: the source runs a daemon, some
// receivers run a client, and the other ones a daemon.
type Mixed struct {
	Mob
	// Percent of the receivers of each cluster or rack, the last ones, run a stock client.
	Percent float64
	// Clients are assigned to them in turn; at least one.
	Clients []*stock.Client
}

// Name implements [System]: it is such as mob+aria2:50%.
func (m Mixed) Name() string {
	name := m.Mob.Name()
	for _, c := range m.Clients {
		name += "+" + c.Name()
	}
	return fmt.Sprintf("%s:%g%%", name, m.Percent)
}

// Missing implements [System].
func (m Mixed) Missing() error {
	errs := []error{m.Mob.Missing()}
	for _, c := range m.Clients {
		errs = append(errs, c.Missing())
	}
	return errors.Join(errs...)
}

// Prepare implements [System]. The clients announce to mob's tracker, and start with Fetch,
// as a user starts a client to get content.
func (m Mixed) Prepare(ctx context.Context, site Site) (Transfer, error) {
	f := m.fleet(site)
	f.BitTorrent = true
	cfg := stock.Config{
		Dir:     filepath.Join(site.Dir, "stock"),
		Torrent: filepath.Join(site.Dir, "content.torrent"),
		Name:    filepath.Base(site.Content),
	}
	var clients []*netns.Node
	site.Receivers, clients = m.split(site.Receivers)
	t, err := f.transfer(ctx, site, func(source *Daemon) (string, error) {
		return source.SeedTorrent(ctx, site.Content, cfg.Torrent, f.announceURL())
	})
	if err != nil {
		return nil, err
	}
	for i, n := range clients {
		cfg.Node = n
		t.receivers[n], err = m.Clients[i%len(m.Clients)].New(cfg)
		if err != nil {
			delete(t.receivers, n)
			_, closed := t.Close()
			return nil, errors.Join(err, closed)
		}
	}
	return t, nil
}

// split chooses the receivers that run a daemon and those that run a stock client.
func (m Mixed) split(receivers []*netns.Node) (daemons, clients []*netns.Node) {
	left := map[string]int{} // receivers of a cluster
	for _, n := range receivers {
		left[n.Path]++
	}
	all := maps.Clone(left)
	for _, n := range receivers {
		if last := int(math.Round(float64(all[n.Path]) * m.Percent / 100)); left[n.Path] > last {
			daemons = append(daemons, n)
		} else {
			clients = append(clients, n)
		}
		left[n.Path]--
	}
	return daemons, clients
}
