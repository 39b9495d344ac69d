package bench

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// BitTorrent is a stock client as a system: one instance on every node, and a tracker on
// the source's.
type BitTorrent struct {
	Client *stock.Client
	// Tracker is opentracker by default.
	Tracker *stock.Tracker
}

// Name implements [System]: it is the client's.
func (b BitTorrent) Name() string { return b.Client.Name() }

func (b BitTorrent) tracker() *stock.Tracker { return cmp.Or(b.Tracker, stock.Opentracker()) }

// Missing implements [System].
func (b BitTorrent) Missing() error { return errors.Join(b.tracker().Missing(), b.Client.Missing()) }

// Prepare implements [System]. It hashes the content, starts the tracker, and waits until
// the source has checked and announced the content. The clients of receivers start with
// Fetch, as a user starts a client to get content.
func (b BitTorrent) Prepare(ctx context.Context, site Site) (Transfer, error) {
	s := &btSwarm{}
	if err := s.prepare(ctx, b, site); err != nil {
		_, closed := s.Close()
		return nil, errors.Join(err, closed)
	}
	return s, nil
}

// btClients are stock clients that download the same torrent.
type btClients struct {
	receivers []*stock.Instance
	byNode    map[*netns.Node]*stock.Instance
}

// add prepares a client.
func (c *btClients) add(client *stock.Client, cfg stock.Config) error {
	i, err := client.New(cfg)
	if err != nil {
		return err
	}
	if c.byNode == nil {
		c.byNode = map[*netns.Node]*stock.Instance{}
	}
	c.receivers = append(c.receivers, i)
	c.byNode[cfg.Node] = i
	return nil
}

// fetch starts the clients and waits for their copies. It fails if one of seeds ends.
func (c *btClients) fetch(ctx context.Context, seeds []*stock.Instance, whole func(n *netns.Node)) error {
	for _, i := range c.receivers {
		if err := i.Start(); err != nil {
			return err
		}
	}
	return stock.Await(ctx, c.receivers, seeds, whole)
}

// killAll ends clients, and returns the sum of what they used.
func killAll(clients []*stock.Instance) (used netns.Usage, err error) {
	var errs []error
	for _, i := range clients {
		errs = append(errs, i.Kill())
		used.Add(i.Usage())
	}
	return used, errors.Join(errs...)
}

// btSwarm is a swarm of stock clients.
type btSwarm struct {
	btClients
	torrent *stock.Torrent
	tracker *stock.RunningTracker
	source  *stock.Instance
	hashing time.Duration // CPU that the source used before Fetch
}

func (s *btSwarm) prepare(ctx context.Context, b BitTorrent, site Site) error {
	var err error
	s.torrent, err = stock.NewTorrent(site.Content, b.tracker().URL(site.Source))
	if err != nil {
		return err
	}
	cfg := stock.Config{
		Dir:     site.Dir,
		Torrent: filepath.Join(site.Dir, "content.torrent"),
		Name:    s.torrent.Name,
	}
	if err := os.WriteFile(cfg.Torrent, s.torrent.Encode(), 0o600); err != nil {
		return err
	}
	for _, n := range site.Receivers {
		cfg.Node = n
		if err := s.add(b.Client, cfg); err != nil {
			return err
		}
	}
	cfg.Node, cfg.Content = site.Source, site.Content
	s.source, err = b.Client.New(cfg)
	if err != nil {
		return err
	}
	s.tracker, err = b.tracker().Start(site.Source, site.Dir, s.torrent.InfoHash())
	if err != nil {
		return err
	}
	if err := s.source.Start(); err != nil {
		return err
	}
	return s.tracker.AwaitSeed(ctx, s.source)
}

// Fetch implements [Transfer].
func (s *btSwarm) Fetch(ctx context.Context, whole func(n *netns.Node)) error {
	s.hashing = s.source.Usage().CPU
	return s.fetch(ctx, []*stock.Instance{s.source}, whole)
}

// Copy implements [Transfer].
func (s *btSwarm) Copy(n *netns.Node) string { return s.byNode[n].Copy() }

// Kill implements [Transfer].
func (s *btSwarm) Kill(n *netns.Node) error { return s.byNode[n].Kill() }

// Close implements [Transfer]. The tracker's usage is not counted.
func (s *btSwarm) Close() (netns.Usage, error) {
	all := s.receivers
	if s.source != nil {
		all = append(slices.Clone(all), s.source)
	}
	used, err := killAll(all)
	used.CPU -= min(used.CPU, s.hashing)
	if s.tracker != nil {
		err = errors.Join(err, s.tracker.Kill())
	}
	return used, err
}
