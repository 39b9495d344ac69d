package collective

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Reduce returns the merged values of all members at the root, and nil at the remaining members.
func (c *Comm) Reduce(ctx context.Context, root int, b []byte, op Op) ([]byte, error) {
	return c.reduce(ctx, opReduce, root, [][]byte{b}, op)
}

// AllReduce returns the merged values of all members at every member.
func (c *Comm) AllReduce(ctx context.Context, b []byte, op Op) ([]byte, error) {
	return c.reduce(ctx, opAllReduce, 0, [][]byte{b}, op)
}

// Shuffle sends to[i] to the member of rank i, and returns the merged values that all members sent to this one.
func (c *Comm) Shuffle(ctx context.Context, to [][]byte, op Op) ([]byte, error) {
	return c.reduce(ctx, opShuffle, 0, to, op)
}

func (c *Comm) reduce(ctx context.Context, name opName, root int, values [][]byte, op Op) ([]byte, error) {
	me := call{Name: name, Elem: uint32(op.Elem)}
	size := 0
	if name != opShuffle && op.Elem > 0 {
		size = len(values[0])
		me.Size = uint32(size)
	}
	r := &reduction{c: c, op: op, values: values}
	err := c.do(ctx, me, root, values, func() error {
		switch {
		case name == opShuffle && len(values) != c.Size():
			return fmt.Errorf("shuffle of %d values, want one for each of %d members", len(values), c.Size())
		case op.Elem < 0 || op.Elem > maxData:
			return fmt.Errorf("elements of %d bytes, at most %d", op.Elem, maxData)
		case op.Elem > 0 && size%op.Elem != 0:
			return fmt.Errorf("vector of %d bytes with elements of %d", size, op.Elem)
		}
		r.plan = newPlan(name, root, size, op.Elem, c.groups, c.trees)
		err := r.run(ctx)
		if err == nil && name == opReduce {
			err = c.settle(ctx, root)
		}
		return err
	})
	return r.out, err
}

// reduction is an operation that merges values, at one member.
type reduction struct {
	c      *Comm
	op     Op
	plan   *plan
	values [][]byte
	out    []byte

	parts    map[int]*merger // by unit: of the members of the cluster, at its owner
	clusters map[int]*merger // by unit: of the clusters, at an owner
	missing  int             // final values
	ahead    chan struct{}   // has a token for each value that was sent to an owner and is not final here
}

// maxAhead is the number of values that a member of an AllReduce sends before it has the final ones: 16 MiB. Otherwise the work of
// merging all values in the clusters delays the first ones on the links between them.
const maxAhead = 256

// run merges until this member has its result, and nothing is left to merge for other members.
func (r *reduction) run(ctx context.Context) error {
	p, c := r.plan, r.c
	r.parts, r.clusters = map[int]*merger{}, map[int]*merger{}
	for u := range p.units {
		if p.owner(c.own, u) == c.rank {
			r.parts[u] = &merger{values: make([][]byte, len(c.groups[c.own]))}
			r.clusters[u] = &merger{values: make([][]byte, len(p.sources(c.own, u)))}
		}
		if p.reads(u, c.rank) {
			r.missing++
		}
	}
	if p.unit > 0 && r.missing > 0 {
		r.out = make([]byte, len(r.values[0]))
	}
	ahead := p.units // without waiting
	if p.name == opAllReduce {
		ahead = max(maxAhead, p.rows*len(p.groups)) // else members could wait for each other's values
	}
	r.ahead = make(chan struct{}, ahead)
	order := p.order(c.own)
	var sending sync.WaitGroup
	sending.Go(func() { r.sendParts(order) })
	defer sending.Wait() // it reads the caller's values
	return r.merge(ctx, order)
}

// merge merges while the member's own values are sent. An error ends that, too.
func (r *reduction) merge(ctx context.Context, order []int) (err error) {
	p, c := r.plan, r.c
	defer func() {
		if p := recover(); p != nil { // in Merge: the caller may recover, but the other members wait
			c.fail(fmt.Errorf("merge panicked: %v", p))
			panic(p)
		}
		if err != nil {
			c.fail(err)
		}
	}()
	for _, u := range order {
		if p.owner(c.own, u) != c.rank {
			continue
		}
		own := frame{header: header{Kind: kindPart, Index: uint32(u)}, from: c.rank, data: r.value(u)}
		if p.unit == 0 || c.rank == c.groups[c.own][0] { // Merge may change it: later values of vectors are sources only
			own.data = bytes.Clone(own.data)
		}
		if err := r.handle(own); err != nil {
			return err
		}
	}
	for r.missing > 0 || len(r.parts) > 0 || len(r.clusters) > 0 {
		f, err := c.next(ctx)
		if err == nil {
			err = r.handle(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sendParts sends this member's values to the owners of their units.
func (r *reduction) sendParts(order []int) {
	for _, u := range order {
		owner, b := r.plan.owner(r.c.own, u), r.value(u)
		if owner == r.c.rank {
			continue
		}
		select {
		case r.ahead <- struct{}{}:
		case <-r.c.ctx.Done():
			return
		}
		if r.plan.name == opShuffle {
			b = bytes.Clone(b) // the caller may change it when this member has its own result
		}
		r.send(kindPart, u, b, owner)
	}
}

// value returns this member's value of a unit.
func (r *reduction) value(u int) []byte {
	switch p := r.plan; {
	case p.name == opShuffle:
		return r.values[u]
	case p.unit == 0:
		return r.values[0]
	default:
		return r.values[0][u*p.unit : min((u+1)*p.unit, len(r.values[0]))]
	}
}

func (r *reduction) send(k kind, u int, b []byte, to ...int) {
	h := r.c.header(k)
	h.Index = uint32(u)
	r.c.send(frame{header: h, data: b}, to...)
}

var errUnit = errors.New("value of a unit that is not expected")

// handle handles a value of a unit.
func (r *reduction) handle(f frame) error {
	c, u := r.c, int(f.Index)
	cluster := clusterOf(c.groups, f.from)
	if u >= r.plan.units || r.op.Elem > 0 && r.plan.name != opShuffle && len(f.data) != len(r.value(u)) {
		return fmt.Errorf("rank %d: %w", f.from, errUnit)
	}
	switch f.Kind {
	case kindPart:
		m := r.parts[u]
		if m == nil || cluster != c.own {
			return fmt.Errorf("rank %d: %w", f.from, errUnit)
		}
		done, err := m.add(slices.Index(c.groups[cluster], f.from), f.data, r.op)
		if err != nil || !done {
			return err
		}
		delete(r.parts, u)
		own := m.merged
		if r.plan.flat {
			r.send(kindCluster, u, m.merged, r.plan.next(c.own, u)...)
			own = bytes.Clone(own) // it is being sent
		}
		return r.handle(frame{header: header{Kind: kindCluster, Index: f.Index}, from: c.rank, data: own})
	case kindCluster:
		m, source := r.clusters[u], slices.Index(r.plan.sources(c.own, u), cluster)
		if m == nil || source < 0 {
			return fmt.Errorf("rank %d: %w", f.from, errUnit)
		}
		done, err := m.add(source, f.data, r.op)
		if err != nil || !done {
			return err
		}
		delete(r.clusters, u)
		if next := r.plan.next(c.own, u); len(next) > 0 && !r.plan.flat {
			r.send(kindCluster, u, m.merged, next...)
			return nil
		}
		return r.final(u, m.merged)
	case kindFinal:
		return r.final(u, f.data)
	}
	return fmt.Errorf("rank %d: %w", f.from, errUnit)
}

// final keeps and forwards a merged value.
func (r *reduction) final(u int, b []byte) error {
	targets := r.plan.targets(u, r.c.rank)
	r.send(kindFinal, u, b, targets...)
	if !r.plan.reads(u, r.c.rank) {
		return nil
	}
	r.missing--
	if r.plan.owner(r.c.own, u) != r.c.rank {
		select {
		case <-r.ahead:
		default: // it was not sent
			return errUnit
		}
	}
	if r.plan.unit > 0 {
		copy(r.out[u*r.plan.unit:], b)
	} else if r.out = b; len(targets) > 0 {
		r.out = bytes.Clone(b) // the caller may change it
	}
	return nil
}

// merger merges values in their order, whatever arrives first.
type merger struct {
	values [][]byte // that have arrived and are not merged
	next   int
	merged []byte
}

// add adds value i. It reports whether all are merged.
func (m *merger) add(i int, b []byte, op Op) (done bool, err error) {
	if i < m.next || m.values[i] != nil {
		return false, errUnit
	}
	if b == nil {
		b = []byte{}
	}
	for m.values[i] = b; m.next < len(m.values) && m.values[m.next] != nil; m.next++ {
		v := m.values[m.next]
		m.values[m.next] = nil
		switch {
		case len(v) == 0:
		case len(m.merged) == 0:
			m.merged = v
		default:
			size := len(m.merged)
			if m.merged, err = op.Merge(m.merged, v); err != nil {
				return false, fmt.Errorf("merge: %w", err)
			}
			switch n := len(m.merged); {
			case op.Elem > 0 && n != size:
				return false, fmt.Errorf("merge of vectors of %d bytes returned %d bytes", size, n)
			case n > MaxValue:
				return false, fmt.Errorf("merge returned %d bytes, at most %d", n, MaxValue)
			}
		}
	}
	return m.next == len(m.values), nil
}
