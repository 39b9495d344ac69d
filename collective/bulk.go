package collective

import (
	"context"
	"errors"
	"fmt"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const (
	// maxCast is the longest value that is broadcast by the group, and maxSend the longest that is gathered by it, in bytes.
	// Longer ones go through a swarm.
	maxCast = 512 << 10
	maxSend = 64 << 10
)

// Broadcast returns the bytes of the root at every member.
func (c *Comm) Broadcast(ctx context.Context, root int, b []byte) ([]byte, error) {
	me := call{Name: opBroadcast, Root: uint16(root)}
	return b, c.do(ctx, me, func() (err error) {
		if err = c.check(root, b); err == nil && c.rank == root {
			return c.broadcast(ctx, b)
		}
		if err != nil {
			return err
		}
		f, err := c.next(ctx)
		if err != nil {
			return err
		}
		v := c.take(ctx, f)
		if b = v.data; v.err != nil {
			return v.err
		}
		c.send(frame{header: c.header(kindFetched)}, root)
		if f.Kind == kindLink { // until all have fetched, this member serves its cluster
			err = c.settle(ctx, root)
		}
		return errors.Join(err, v.release())
	})
}

func (c *Comm) broadcast(ctx context.Context, b []byte) error {
	k, data, release, err := c.offer(b, maxCast)
	if err != nil {
		return err
	}
	err = c.cast(ctx, k, data)
	for i := 1; i < c.Size() && err == nil; i++ {
		err = c.expectFetched(ctx)
	}
	if err == nil && k == kindLink {
		err = c.settle(ctx, c.rank)
	}
	return errors.Join(err, release())
}

// Gather returns the bytes of all members at the root, by rank, and nil at the remaining members.
func (c *Comm) Gather(ctx context.Context, root int, b []byte) (all [][]byte, err error) {
	me := call{Name: opGather, Root: uint16(root)}
	return all, c.do(ctx, me, func() (err error) {
		if err := c.check(root, b); err != nil {
			return err
		}
		if c.rank == root {
			if all, err = c.gather(ctx, b); err != nil {
				return err
			}
			return c.settle(ctx, root)
		}
		k, data, release, err := c.offer(b, maxSend)
		if err != nil {
			return err
		}
		c.send(frame{header: c.header(k), data: data}, root)
		return errors.Join(c.settle(ctx, root), release())
	})
}

func (c *Comm) gather(ctx context.Context, b []byte) ([][]byte, error) {
	all := make([][]byte, c.Size())
	all[c.rank] = b
	got := make(chan value, c.Size())
	for range c.Size() - 1 {
		f, err := c.next(ctx)
		if err != nil {
			return nil, err
		}
		go func() { got <- c.take(ctx, f) }()
	}
	var failed error
	for range c.Size() - 1 {
		v := <-got
		all[v.from] = v.data
		failed = errors.Join(failed, v.err)
		if v.err == nil {
			failed = errors.Join(failed, v.release())
		}
	}
	return all, failed
}

func (c *Comm) header(k kind) header {
	return header{Kind: k, Run: c.run, Op: c.op, Call: c.call}
}

// cast sends a value to all members.
func (c *Comm) cast(ctx context.Context, k kind, b []byte) error {
	h := c.header(k)
	h.Total = uint32(len(b))
	return c.g.Cast(ctx, h.append(b))
}

// settle ends an operation that has its result at the root only: no member starts another one before. Otherwise a member could buffer
// values of many operations that it has not called.
func (c *Comm) settle(ctx context.Context, root int) error {
	if c.rank == root {
		return c.cast(ctx, kindFetched, nil)
	}
	return c.expectFetched(ctx)
}

func (c *Comm) expectFetched(ctx context.Context) error {
	f, err := c.next(ctx)
	if err == nil && f.Kind != kindFetched {
		err = fmt.Errorf("rank %d: %w", f.from, errFrame)
	}
	return err
}

func noRelease() error { return nil }

// offer returns what is sent instead of a value: the value, or if it is longer than most a link. The value is then served from memory until
// release.
func (c *Comm) offer(b []byte, most int) (k kind, data []byte, release func() error, err error) {
	if len(b) <= most {
		return kindValue, b, noRelease, nil
	}
	t, err := c.node.SeedBytes("value", b, peer.SeedOptions{})
	if err != nil {
		return 0, nil, nil, err
	}
	return kindLink, []byte(t.Link().String()), func() error { return c.node.Release(t) }, nil
}

// value is a value that was offered by a member. It is served until release.
type value struct {
	from    int
	data    []byte
	release func() error
	err     error
}

// take returns the value that a frame has, or links to.
func (c *Comm) take(ctx context.Context, f frame) value {
	v := value{from: f.from, data: f.data, release: noRelease}
	if f.Kind == kindValue {
		return v
	}
	link, err := proto.ParseLink(string(f.data))
	if f.Kind != kindLink || err != nil {
		v.err = fmt.Errorf("rank %d: %w", f.from, errFrame)
		return v
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	if v.data, v.err = c.node.GetBytes(ctx, link, MaxValue); v.err != nil && c.ctx.Err() != nil {
		v.err = context.Cause(c.ctx)
	}
	v.release = func() error {
		t, err := c.node.Transfer(link.Manifest.String())
		if err != nil {
			return err
		}
		return c.node.Release(t)
	}
	return v
}
