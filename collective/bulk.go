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
	if err := c.begin(call{Name: opBroadcast, Root: uint16(root)}); err != nil {
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
	h := c.header(kindValue)
	if h.Total = uint32(len(b)); len(b) <= maxCast {
		return c.g.Cast(ctx, h.append(b))
	}
	link, release, err := c.seed(b)
	if err != nil {
		return err
	}
	h.Kind, h.Total = kindLink, uint32(len(link))
	if err = c.g.Cast(ctx, h.append([]byte(link))); err == nil {
		err = c.fetched(ctx, c.Size()-1)
	}
	return errors.Join(err, release())
}

func (c *Comm) receiveBroadcast(ctx context.Context, root int) ([]byte, error) {
	f, err := c.next(ctx)
	if err != nil || f.Kind == kindValue {
		return f.data, err
	}
	if f.Kind != kindLink {
		return nil, fmt.Errorf("rank %d: %w", f.from, errFrame)
	}
	b, release, err := c.fetch(ctx, f)
	if err != nil {
		return nil, err
	}
	c.send(root, frame{header: c.header(kindFetched)})
	// It serves its cluster until the root has heard from all.
	_, err = c.next(ctx)
	return b, errors.Join(err, release())
}

// fetched waits until n members have fetched the value.
func (c *Comm) fetched(ctx context.Context, n int) error {
	for range n {
		if f, err := c.next(ctx); err != nil {
			return err
		} else if f.Kind != kindFetched {
			return fmt.Errorf("rank %d: %w", f.from, errFrame)
		}
	}
	if c.calls[c.op].Name == opGather {
		return nil
	}
	h := c.header(kindFetched)
	return c.g.Cast(ctx, h.append(nil))
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
	if err := c.begin(call{Name: opGather, Root: uint16(root)}); err != nil {
		return nil, err
	}
	var all [][]byte
	err := c.check(root, b)
	switch {
	case err != nil:
	case c.rank == root:
		all, err = c.gather(ctx, b)
	case len(b) <= maxSend:
		c.send(root, frame{header: c.header(kindValue), data: b})
	default:
		link, release, failed := c.seed(b)
		if err = failed; err == nil {
			c.send(root, frame{header: c.header(kindLink), data: []byte(link)})
			err = errors.Join(c.fetched(ctx, 1), release())
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
					c.send(f.from, frame{header: c.header(kindFetched)})
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
