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
	if err := c.start(call{Name: opBroadcast, Root: uint16(root)}); err != nil {
		return nil, err
	}
	err := c.check(root, b)
	if err == nil && c.rank == root {
		err = c.broadcast(ctx, b)
	} else if err == nil {
		b, err = c.receiveBroadcast(ctx, root)
	}
	if err = c.end(ctx, err); err != nil {
		return nil, err
	}
	return b, nil
}

func (c *Comm) header(k kind) header {
	return header{Kind: k, Run: c.run, Op: c.op, Call: c.calls[c.op]}
}

func (c *Comm) broadcast(ctx context.Context, b []byte) error {
	if len(b) <= maxCast {
		err := c.cast(ctx, kindValue, b)
		if err == nil {
			err = c.fetched(ctx)
		}
		return err
	}
	link, release, err := c.seed(b)
	if err != nil {
		return err
	}
	if err = c.cast(ctx, kindLink, []byte(link)); err == nil {
		err = c.fetched(ctx)
	}
	if err == nil {
		err = c.settle(ctx, c.rank)
	}
	return errors.Join(err, release())
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

func (c *Comm) receiveBroadcast(ctx context.Context, root int) ([]byte, error) {
	f, err := c.next(ctx)
	if err != nil {
		return nil, err
	}
	switch f.Kind {
	case kindValue:
		c.send(frame{header: c.header(kindFetched)}, root)
		return f.data, nil
	case kindLink:
		b, release, err := c.fetch(ctx, f)
		if err != nil {
			return nil, err
		}
		c.send(frame{header: c.header(kindFetched)}, root)
		return b, errors.Join(c.settle(ctx, root), release()) // until all have fetched, it serves its cluster
	}
	return nil, fmt.Errorf("rank %d: %w", f.from, errFrame)
}

// fetched waits until the remaining members have the value.
func (c *Comm) fetched(ctx context.Context) (err error) {
	for i := 1; i < c.Size() && err == nil; i++ {
		err = c.expectFetched(ctx)
	}
	return err
}

// seed serves a value from memory until release, and returns its link.
func (c *Comm) seed(b []byte) (link string, release func() error, err error) {
	t, err := c.node.SeedBytes("value", b, peer.SeedOptions{})
	if err != nil {
		return "", nil, err
	}
	return t.Link().String(), func() error { return c.node.Release(t) }, nil
}

// fetch gets the value of a link, and serves it until release.
func (c *Comm) fetch(ctx context.Context, f frame) (b []byte, release func() error, err error) {
	link, err := proto.ParseLink(string(f.data))
	if err != nil {
		return nil, nil, fmt.Errorf("rank %d: %w", f.from, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	if b, err = c.node.GetBytes(ctx, link, MaxValue); err != nil {
		if c.ctx.Err() != nil {
			err = context.Cause(c.ctx)
		}
		return nil, nil, err
	}
	return b, func() error {
		t, err := c.node.Transfer(link.Manifest.String())
		if err != nil {
			return err
		}
		return c.node.Release(t)
	}, nil
}

// Gather returns the bytes of all members at the root, by rank, and nil at the remaining members.
func (c *Comm) Gather(ctx context.Context, root int, b []byte) ([][]byte, error) {
	if err := c.start(call{Name: opGather, Root: uint16(root)}); err != nil {
		return nil, err
	}
	var all [][]byte
	err := c.check(root, b)
	switch {
	case err != nil:
	case c.rank == root:
		if all, err = c.gather(ctx, b); err == nil {
			err = c.settle(ctx, root)
		}
	case len(b) <= maxSend:
		c.send(frame{header: c.header(kindValue), data: b}, root)
		err = c.settle(ctx, root)
	default:
		link, release, failed := c.seed(b)
		if err = failed; err == nil {
			c.send(frame{header: c.header(kindLink), data: []byte(link)}, root)
			err = errors.Join(c.settle(ctx, root), release())
		}
	}
	if err = c.end(ctx, err); err != nil {
		return nil, err
	}
	return all, nil
}

func (c *Comm) gather(ctx context.Context, b []byte) ([][]byte, error) {
	all := make([][]byte, c.Size())
	all[c.rank] = b
	got := make(chan error, c.Size())
	links := 0
	for range c.Size() - 1 {
		f, err := c.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case f.Kind == kindValue:
			all[f.from] = f.data
		case f.Kind == kindLink:
			links++
			go func() {
				data, release, err := c.fetch(ctx, f)
				if err == nil {
					all[f.from], err = data, release()
				}
				got <- err
			}()
		default:
			return nil, fmt.Errorf("rank %d: %w", f.from, errFrame)
		}
	}
	var failed error
	for range links {
		failed = errors.Join(failed, <-got)
	}
	return all, failed
}
