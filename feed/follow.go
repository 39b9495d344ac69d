package feed

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/group"
)

// pushWait bounds the wait for content that is cast after a head. A follower that joined later gets the head only.
const pushWait = time.Second

// following receives the heads of a feed.
type following struct {
	g      *group.Group
	key    crypto.PubKey
	have   uint64
	newest *Head // nil if it is not known
	log    *slog.Logger
}

// Follow returns the heads of a feed whose versions are newer than have, as they arrive. A head that was not taken from the
// channel is replaced by a newer one. Heads with an older version are ignored, and so is another head of the newest
// version, with a warning in log: the key was copied, or the publisher lost its state. The channel is closed
// when ctx ends or the group is closed. Only Follow may receive the messages of the group.
func Follow(ctx context.Context, g *group.Group, key crypto.PubKey, have uint64, log *slog.Logger) (<-chan Head, error) {
	f := &following{g: g, key: key, have: have, log: log}
	var err error
	if f.newest, err = newestHead(g, key); err != nil {
		return nil, fmt.Errorf("the head on the disk: %w", err)
	}
	heads, messages := make(chan Head), make(chan []byte)
	go func() {
		defer close(messages)
		for {
			m, err := g.Receive(ctx)
			if err != nil {
				return
			}
			messages <- m.Bytes
		}
	}()
	go func() {
		defer close(heads)
		f.run(messages, heads)
	}()
	return heads, nil
}

// run forwards heads until there are no more messages.
func (f *following) run(messages <-chan []byte, heads chan<- Head) {
	var (
		next Head        // was not taken
		out  chan<- Head // heads while next may be taken
		push *time.Timer // while the content of next may arrive
		late <-chan time.Time
	)
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				return
			}
			if signed, ok := headOf(m); ok {
				h := f.accept(signed)
				if h == nil {
					continue
				}
				next, out, late = *h, heads, nil
				if h.push {
					push = time.NewTimer(pushWait)
					out, late = nil, push.C
				}
			} else if seq, content, ok := contentOf(m); ok && late != nil && seq == next.Seq {
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
func (f *following) accept(signed []byte) *Head {
	h, err := openHead(signed, f.key)
	switch {
	case err != nil:
		f.log.Warn("a member sent an invalid head", "error", err)
		return nil
	case f.newest != nil && h.Seq == f.newest.Seq && !bytes.Equal(h.body, f.newest.body):
		f.log.Warn("the feed has two different heads of one version: the second is ignored", "version", h.Seq)
		return nil
	case f.newest != nil && h.Seq < f.newest.Seq:
		f.log.Info("an old head is ignored", "version", h.Seq, "newest", f.newest.Seq)
		return nil
	case f.newest != nil && h.Seq == f.newest.Seq || h.Seq <= f.have:
		return nil
	}
	f.newest = h
	f.g.SetNewest(headMessage(h))
	return h
}
