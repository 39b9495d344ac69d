package feed

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
)

// heads has the newest head of a feed, which new members of the group get from this node.
type heads struct {
	group *group.Group
	key   crypto.PubKey
	log   *slog.Logger

	mu     sync.Mutex
	newest *Head  // nil if none is known
	fork   string // describes a fork, until the next version
	noted  map[string]*rate.Sometimes
}

// join joins the group of the feed. Members get the newest head from their first session on: a follower reports to a publisher
// that has started when it gets the head.
func (s *heads) join(ctx context.Context, n *peer.Node, trackers []ma.Multiaddr) (err error) {
	cfg := group.Config{Key: GroupKey(s.key), Trackers: trackers}
	if s.newest != nil {
		cfg.Newest = headMessage(s.newest)
	}
	s.group, err = group.Join(ctx, n, cfg)
	return err
}

// set sets the newest head. The caller holds the lock.
func (s *heads) set(h *Head) {
	s.newest, s.fork = h, ""
	s.group.SetNewest(headMessage(h))
}

func (s *heads) known() *Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest
}

// receive handles the messages of the group until ctx ends or the group is closed.
func (s *heads) receive(ctx context.Context, handle func(*group.Message)) {
	for {
		m, err := s.group.Receive(ctx)
		if err != nil {
			return
		}
		handle(&m)
	}
}

// accept takes over a head from a member if it is newer than the ones before, and else returns nil. If the key was copied, or
// the publisher lost its state, there may be two heads of one version.
func (s *heads) accept(from libpeer.ID, signed []byte) *Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest != nil && bytes.Equal(signed, s.newest.signed) {
		return nil
	}
	h, err := openHead(signed, s.key)
	switch {
	case err != nil:
		s.note(slog.LevelWarn, "a member sent an invalid head", "member", from, "error", err)
	case s.newest == nil || h.Seq > s.newest.Seq:
		h.relayed = from != h.node
		s.set(h)
		return h
	case h.Seq < s.newest.Seq:
		s.note(slog.LevelInfo, "an old head is ignored", "version", h.Seq, "newest", s.newest.Seq, "member", from)
	case !bytes.Equal(h.body, s.newest.body):
		s.fork = fmt.Sprintf("another version %d was posted with the feed's key, and some followers have that one until the next one is posted", h.Seq)
		s.note(slog.LevelWarn, "the feed has two different heads of one version: the second is ignored", "version", h.Seq, "member", from)
	}
	return nil
}

// logEvery is the time between two lines of the log with the same message about members.
const logEvery = time.Second

// note logs a message about a member. The caller holds the lock.
func (s *heads) note(level slog.Level, message string, args ...any) {
	if s.noted == nil {
		s.noted = map[string]*rate.Sometimes{}
	}
	if s.noted[message] == nil {
		s.noted[message] = &rate.Sometimes{Interval: logEvery}
	}
	s.noted[message].Do(func() { s.log.Log(context.Background(), level, message, args...) }) //nolint:sloglint // the messages of the callers are constants
}
