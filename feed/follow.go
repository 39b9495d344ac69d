package feed

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"

	"github.com/mobgrid/mob/group"
)

// pushWait bounds the wait for content that is cast after a head. A follower that joined later gets the head only.
const pushWait = time.Second

// logEvery is the time between two lines of the log about the same kind of head that is ignored.
const logEvery = time.Second

// following receives the heads of a feed.
type following struct {
	g      *group.Group
	key    crypto.PubKey
	have   uint64
	newest *Head // nil if it is not known
	// met, if not nil, is called when a session with the publisher has started, and it has no newer version.
	met func(publisher libpeer.ID)
	log *slog.Logger

	invalid, forked, old, wrong *rate.Sometimes // lines of the log
}

func newFollowing(g *group.Group, key crypto.PubKey, have uint64, log *slog.Logger) *following {
	lines := func() *rate.Sometimes { return &rate.Sometimes{Interval: logEvery} }
	return &following{g: g, key: key, have: have, log: log, invalid: lines(), forked: lines(), old: lines(), wrong: lines()}
}

// Follow returns the heads of a feed whose versions are newer than have, as they arrive. A head that was not taken from the
// channel is replaced by a newer one. Heads with an older version are ignored, and so is another head of the newest
// version, with a warning in the default log: the key was copied, or the publisher lost its state. The channel is closed
// when ctx ends or the group is closed. Only Follow may receive the messages of the group.
func Follow(ctx context.Context, g *group.Group, key crypto.PubKey, have uint64) (<-chan Head, error) {
	return newFollowing(g, key, have, slog.Default()).start(ctx)
}

// start is Follow.
func (f *following) start(ctx context.Context) (<-chan Head, error) {
	var err error
	if f.newest, err = newestHead(f.g, f.key); err != nil {
		return nil, fmt.Errorf("the head on the disk: %w", err)
	}
	heads, messages := make(chan Head), make(chan group.Message)
	go func() {
		defer close(messages)
		for {
			m, err := f.g.Receive(ctx)
			if err != nil {
				return
			}
			messages <- m
		}
	}()
	go func() {
		defer close(heads)
		f.run(messages, heads)
	}()
	return heads, nil
}

// run forwards heads until there are no more messages.
func (f *following) run(messages <-chan group.Message, heads chan<- Head) {
	var (
		next Head        // was not taken
		out  chan<- Head // heads while next may be taken
		late <-chan time.Time
	)
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				return
			}
			if signed, ok := headOf(m.Bytes); ok {
				h := f.accept(m.From, signed)
				if h == nil {
					continue
				}
				next, out, late = *h, heads, nil
				if h.push {
					out, late = nil, time.After(pushWait)
				}
			} else if seq, content, ok := contentOf(m.Bytes); ok && late != nil && seq == next.Seq {
				if m.From != next.node || next.Link.Length != int64(len(content)) {
					f.wrong.Do(func() {
						f.log.Warn("a member sent content that is not the publisher's", "version", seq, "member", m.From)
					})
					continue
				}
				next.Inline, out, late = content, heads, nil
			}
		case <-late:
			out, late = heads, nil
		case out <- next:
			out = nil
		}
	}
}

// accept returns a head that is newer than the ones before, and else nil. The group's members get it from this node, too.
func (f *following) accept(from libpeer.ID, signed []byte) *Head {
	if f.newest != nil && bytes.Equal(signed, f.newest.signed) {
		if from == f.newest.node && f.met != nil {
			f.met(from)
		}
		return nil
	}
	h, err := openHead(signed, f.key)
	switch {
	case err != nil:
		f.invalid.Do(func() { f.log.Warn("a member sent an invalid head", "member", from, "error", err) })
		return nil
	case f.newest != nil && h.Seq == f.newest.Seq && !bytes.Equal(h.body, f.newest.body):
		f.forked.Do(func() {
			f.log.Warn("the feed has two different heads of one version: the second is ignored", "version", h.Seq, "member", from)
		})
		return nil
	case f.newest != nil && h.Seq < f.newest.Seq:
		f.old.Do(func() { f.log.Info("an old head is ignored", "version", h.Seq, "newest", f.newest.Seq, "member", from) })
		return nil
	case f.newest != nil && h.Seq == f.newest.Seq || h.Seq <= f.have:
		return nil
	}
	f.newest = h
	f.g.SetNewest(headMessage(h))
	return h
}
