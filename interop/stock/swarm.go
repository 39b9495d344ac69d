package stock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// swarm is a [bench.Transfer]: a tracker, and a member on every node.
type swarm struct {
	site      bench.Site
	torrent   *torrent
	tracker   *tracker
	source    *member
	receivers []*member
	byNode    map[*netns.Node]*member
}

// Prepare hashes the content, starts the tracker, and has the source check and
// announce it. The clients of receivers start with Fetch, as someone starts them
// who wants a content.
func (c *Client) Prepare(ctx context.Context, site bench.Site) (bench.Transfer, error) {
	s := &swarm{site: site, byNode: map[*netns.Node]*member{}}
	if err := s.prepare(ctx, c); err != nil {
		_, closing := s.Close()
		return nil, errors.Join(err, closing)
	}
	return s, nil
}

func (s *swarm) prepare(ctx context.Context, c *Client) error {
	content, err := filepath.Abs(s.site.Content)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(s.site.Dir) // clients run in folders of their own
	if err != nil {
		return err
	}
	if s.torrent, err = newTorrent(content, c.usedTracker().URL(s.site.Source)); err != nil {
		return err
	}
	file := filepath.Join(dir, "content.torrent")
	if err := os.WriteFile(file, s.torrent.encode(), 0o600); err != nil {
		return err
	}
	marks := filepath.Join(dir, "marks")
	if err := os.Mkdir(marks, 0o700); err != nil {
		return err
	}
	for _, n := range append([]*netns.Node{s.site.Source}, s.site.Receivers...) {
		seat, err := newSeat(n, dir, marks, file)
		if err != nil {
			return err
		}
		seat.scheme = c.usedTracker().scheme
		s.byNode[n] = &member{client: c, seat: seat}
		if n != s.site.Source {
			s.receivers = append(s.receivers, s.byNode[n])
		}
	}
	s.source = s.byNode[s.site.Source]
	// A link, since some clients leave files of theirs beside the content.
	if err := os.Symlink(content, s.Copy(s.site.Source)); err != nil {
		return err
	}
	if s.tracker, err = c.usedTracker().start(s.site.Source, dir, s.torrent.infoHash()); err != nil {
		return err
	}
	if err := s.source.start(); err != nil {
		return err
	}
	if err := s.tracker.awaitSeed(ctx, s.source.run.ended); err != nil {
		return fmt.Errorf("%s at the source %w: %s", c.name, err, s.source.run.lastWords())
	}
	return nil
}

// glance is how often marks are looked for.
const glance = 10 * time.Millisecond

// Fetch starts all receivers' clients and waits for their marks.
func (s *swarm) Fetch(ctx context.Context, whole func(n *netns.Node)) error {
	s.source.count()
	for _, m := range s.receivers {
		if err := m.start(); err != nil {
			return err
		}
	}
	return await(ctx, s.receivers, func() error {
		_, err := s.source.gone()
		return err
	}, whole)
}

// await waits for the marks of members, as long as nothing is wrong.
func await(ctx context.Context, members []*member, wrong func() error, whole func(n *netns.Node)) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	waiting := append([]*member{}, members...)
	for {
		var err error
		if waiting, err = look(waiting, whole); err != nil {
			return err
		}
		if len(waiting) == 0 {
			return nil
		}
		if err := wrong(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look tells of those that have become whole, and returns those that have not and
// still may. One that has gone by itself is an error.
func look(waiting []*member, whole func(n *netns.Node)) ([]*member, error) {
	var left []*member
	for _, m := range waiting {
		killed, failed := m.gone() // before the mark: it may be the last that it did
		switch {
		case m.whole():
			whole(m.seat.node)
		case failed != nil:
			return nil, failed
		case !killed:
			left = append(left, m)
		}
	}
	return left, nil
}

// Copy is where a receiver's copy is.
func (s *swarm) Copy(n *netns.Node) string {
	return filepath.Join(s.byNode[n].seat.data, s.torrent.name)
}

// Kill ends the client of a node.
func (s *swarm) Kill(n *netns.Node) error { return s.byNode[n].kill() }

// Close ends all, the tracker last. The tracker's use is not counted, being none
// of the client's.
func (s *swarm) Close() (bench.Usage, error) {
	var sum bench.Usage
	var errs []error
	for _, m := range s.byNode {
		errs = append(errs, m.kill())
		sum.CPU += m.usage.CPU
		sum.Peak = max(sum.Peak, m.usage.Peak)
	}
	if s.tracker != nil {
		errs = append(errs, s.tracker.run.kill())
	}
	return sum, errors.Join(errs...)
}
