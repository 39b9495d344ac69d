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
	err := c.do(ctx, call{Name: opBroadcast}, root, [][]byte{b}, func() error {
		if c.rank == root {
			return c.broadcast(ctx, b)
		}
		f, err := c.next(ctx)
		if err != nil {
			return err
		}
		var served *peer.Transfer
		if b, served, err = c.take(ctx, f); err != nil {
			return err
		}
		c.send(frame{header: c.header(kindFetched)}, root)
		if f.Kind == kindLink { // until all have fetched, this member serves its cluster
			err = c.settle(ctx, root)
		}
		return errors.Join(err, c.release(served))
	})
	return b, err
}

func (c *Comm) broadcast(ctx context.Context, b []byte) error {
	k, data, served, err := c.offer(b, maxCast)
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
	return errors.Join(err, c.release(served))
}

// Gather returns the bytes of all members at the root, by rank, and nil at the remaining members.
func (c *Comm) Gather(ctx context.Context, root int, b []byte) (all [][]byte, err error) {
	err = c.do(ctx, call{Name: opGather}, root, [][]byte{b}, func() (err error) {
		if c.rank == root {
			if all, err = c.gather(ctx, b); err != nil {
				return err
			}
			return c.settle(ctx, root)
		}
		k, data, served, err := c.offer(b, maxSend)
		if err != nil {
			return err
		}
		c.send(frame{header: c.header(k), data: data}, root)
		return errors.Join(c.settle(ctx, root), c.release(served))
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
			data, served, err := c.take(ctx, f)
			all[f.from], errs[f.from] = data, errors.Join(err, c.release(served))
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

// offer returns what is sent instead of a value: the value, or if it is longer than most a link. The value is then served from memory until
// release.
func (c *Comm) offer(b []byte, most int) (k kind, data []byte, served *peer.Transfer, err error) {
	if len(b) <= most {
		return kindValue, b, nil, nil
	}
	if served, err = c.g.Node().SeedBytes("value", b, peer.SeedOptions{}); err != nil {
		return 0, nil, nil, err
	}
	return kindLink, []byte(served.Link().String()), served, nil
}

// take returns the value that a frame has, or links to. Such a value is served until release.
func (c *Comm) take(ctx context.Context, f frame) (data []byte, served *peer.Transfer, err error) {
	if f.Kind == kindValue {
		return f.data, nil, nil
	}
	link, err := proto.ParseLink(string(f.data))
	if f.Kind != kindLink || err != nil {
		return nil, nil, fmt.Errorf("rank %d: %w", f.from, errFrame)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	if data, err = c.g.Node().GetBytes(ctx, link, MaxValue); err != nil {
		return nil, nil, cmp.Or(context.Cause(c.ctx), err)
	}
	served, err = c.g.Node().Transfer(link.Manifest.String())
	return data, served, err
}

// release ends the transfer of a value, if there is one.
func (c *Comm) release(served *peer.Transfer) error {
	if served == nil {
		return nil
	}
	return c.g.Node().Release(served)
}
