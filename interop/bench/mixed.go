package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	daemons, clients := m.split(site.Receivers)
	t := &mixedTransfer{mobTransfer: m.transfer(site)}
	t.BitTorrent = true
	cfg := stock.Config{
		Dir:     filepath.Join(site.Dir, "stock"),
		Torrent: filepath.Join(site.Dir, "content.torrent"),
		Name:    filepath.Base(site.Content),
	}
	own := site
	own.Receivers = daemons
	seed := func() (string, error) {
		return t.Source.SeedTorrent(ctx, site.Content, cfg.Torrent, t.announceURL())
	}
	if err := t.prepare(ctx, own, seed); err != nil {
		return nil, err
	}
	for i, n := range clients {
		cfg.Node = n
		if err := t.clients.add(m.Clients[i%len(m.Clients)], cfg); err != nil {
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
	last := map[string]int{} // those that run a client
	for cluster, n := range left {
		last[cluster] = int(math.Round(float64(n) * m.Percent / 100))
	}
	for _, n := range receivers {
		if left[n.Path] > last[n.Path] {
			daemons = append(daemons, n)
		} else {
			clients = append(clients, n)
		}
		left[n.Path]--
	}
	return daemons, clients
}

// mixedTransfer is a transfer of daemons and stock clients.
type mixedTransfer struct {
	*mobTransfer
	clients btClients
}

// Fetch implements [Transfer].
func (t *mixedTransfer) Fetch(ctx context.Context, whole func(n *netns.Node)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	go func() { ended <- t.mobTransfer.Fetch(ctx, whole) }()
	go func() { ended <- t.clients.fetch(ctx, nil, whole) }()
	first := <-ended
	if first != nil {
		cancel()
	}
	return cmp.Or(first, <-ended)
}

// Copy implements [Transfer].
func (t *mixedTransfer) Copy(n *netns.Node) string {
	if c := t.clients.byNode[n]; c != nil {
		return c.Copy()
	}
	return t.mobTransfer.Copy(n)
}

// Kill implements [Transfer].
func (t *mixedTransfer) Kill(n *netns.Node) error {
	if c := t.clients.byNode[n]; c != nil {
		return c.Kill()
	}
	return t.mobTransfer.Kill(n)
}

// Close implements [Transfer].
func (t *mixedTransfer) Close() (netns.Usage, error) {
	used, err := t.mobTransfer.Close()
	byClients, killed := killAll(t.clients.receivers)
	used.Add(byClients)
	return used, errors.Join(err, killed)
}
