package bench

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/anacrolix/torrent/metainfo"

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
func (b BitTorrent) Missing() error { return errors.Join(b.tracker().Missing, b.Client.Missing()) }

// Prepare implements [System]. It hashes the content, starts the tracker, and waits until
// the source has checked and announced the content. The clients of receivers start with
// Fetch, as a user starts a client to get content.
func (b BitTorrent) Prepare(ctx context.Context, site Site) (Transfer, error) {
	s := &btSwarm{swarm: swarm{receivers: map[*netns.Node]receiver{}}}
	if err := s.prepare(ctx, b, site); err != nil {
		_, closed := s.Close()
		return nil, errors.Join(err, closed)
	}
	return s, nil
}

// btSwarm is a swarm of stock clients.
type btSwarm struct {
	swarm
	torrent *metainfo.MetaInfo
	tracker *stock.RunningTracker
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
		Name:    filepath.Base(site.Content),
	}
	file, err := os.Create(cfg.Torrent)
	if err != nil {
		return err
	}
	if err := errors.Join(s.torrent.Write(file), file.Close()); err != nil {
		return err
	}
	for _, n := range site.Receivers {
		cfg.Node = n
		i, err := b.Client.New(cfg)
		if err != nil {
			return err
		}
		s.receivers[n] = i
	}
	cfg.Node, cfg.Content = site.Source, site.Content
	source, err := b.Client.New(cfg)
	if err != nil {
		return err
	}
	s.source = source
	s.tracker, err = b.tracker().Start(site.Source, site.Dir, s.torrent.HashInfoBytes())
	if err != nil {
		return err
	}
	s.uncounted = s.tracker
	if err := source.Start(); err != nil {
		return err
	}
	return s.tracker.AwaitSeed(ctx, source)
}
