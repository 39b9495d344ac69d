package collective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

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
	err := c.do(ctx, me, func() error {
		if err := c.check(root, b); err != nil {
			return err
		}
		if c.rank == root {
			return c.broadcast(ctx, b)
		}
		f, err := c.next(ctx)
		if err != nil {
			return err
		}
		var release func() error
		if b, release, err = c.take(ctx, f); err != nil {
			return err
		}
		c.send(frame{header: c.header(kindFetched)}, root)
		if f.Kind == kindLink { // until all have fetched, this member serves its cluster
			err = c.settle(ctx, root)
		}
		return errors.Join(err, release())
	})
	return b, err
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
	err = c.do(ctx, me, func() (err error) {
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
	return all, err
}

func (c *Comm) gather(ctx context.Context, b []byte) ([][]byte, error) {
	all, errs := make([][]byte, c.Size()), make([]error, c.Size())
	all[c.rank] = b
	var fetching sync.WaitGroup
	for range c.Size() - 1 {
		f, err := c.next(ctx)
		if errs[c.rank] = err; err != nil {
			break
		}
		fetching.Go(func() {
			data, release, err := c.take(ctx, f)
			all[f.from], errs[f.from] = data, errors.Join(err, release())
		})
	}
	fetching.Wait()
	return all, errors.Join(errs...)
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
	t, err := c.g.Node().SeedBytes("value", b, peer.SeedOptions{})
	if err != nil {
		return 0, nil, nil, err
	}
	return kindLink, []byte(t.Link().String()), func() error { return c.g.Node().Release(t) }, nil
}

// take returns the value that a frame has, or links to. It is served until release.
func (c *Comm) take(ctx context.Context, f frame) (data []byte, release func() error, err error) {
	if f.Kind == kindValue {
		return f.data, noRelease, nil
	}
	link, err := proto.ParseLink(string(f.data))
	if f.Kind != kindLink || err != nil {
		return nil, noRelease, fmt.Errorf("rank %d: %w", f.from, errFrame)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	if data, err = c.g.Node().GetBytes(ctx, link, MaxValue); err != nil {
		return nil, noRelease, cmp.Or(context.Cause(c.ctx), err)
	}
	return data, func() error {
		t, err := c.g.Node().Transfer(link.Manifest.String())
		if err != nil {
			return err
		}
		return c.g.Node().Release(t)
	}, nil
}
