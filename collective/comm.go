package collective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mobgrid/mob/group"
)

const (
	// MaxMembers bounds the members.
	MaxMembers = 256
	// MaxValue bounds a value, in bytes.
	MaxValue = 1 << 30
)

// ErrMember is the error of every operation after a member was lost.
type ErrMember struct{ Rank int } //nolint:errname // the name says what was lost

// Error implements error.
func (e ErrMember) Error() string { return fmt.Sprintf("member of rank %d was lost", e.Rank) }

var errClosed = errors.New("this member has left the group")

// Comm is a member of a group that calls operations together.
type Comm struct {
	g      *group.Group
	roster *roster
	run    uint64
	rank   int
	groups [][]int // ranks by cluster
	own    int     // cluster of this member
	trees  []tree  // of SetLinks, for long vectors
	ctx    context.Context
	cancel context.CancelCauseFunc
	once   sync.Once
	closed chan struct{} // the group is left

	rejecting sync.Mutex // held while a second group is rejected

	mu   sync.Mutex
	op   uint32 // number of the last operation, which is called call
	call call
	done uint32 // the last operation that has ended here
	// By operation, in the order of arrival. There are later ones: the remaining members may have completed a Broadcast of each root
	// without this member.
	frames  map[uint32][]frame
	partial map[partialKey][]byte
	arrived chan struct{}  // holds a token if there is a frame for an operation
	left    map[int]uint32 // ranks that have left, and their last operation
}

// partialKey names a value of which some data has arrived. Its offset is 0.
type partialKey struct {
	from int
	header
}

func newComm(g *group.Group, r *roster, run uint64, rank int) *Comm {
	c := &Comm{
		g: g, roster: r, run: run, rank: rank, groups: r.clusters(), closed: make(chan struct{}),
		frames: map[uint32][]frame{}, partial: map[partialKey][]byte{}, arrived: make(chan struct{}, 1), left: map[int]uint32{},
	}
	c.own = clusterOf(c.groups, rank)
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

func clusterOf(groups [][]int, rank int) int {
	for i, ranks := range groups {
		if rank <= ranks[len(ranks)-1] {
			return i
		}
	}
	return -1
}

// Rank returns the number of this member, from 0. Ranks are by cluster, then by peer id.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of members.
func (c *Comm) Size() int { return len(c.roster.Members) }

const (
	// abortTimeout bounds the messages that the run has ended.
	abortTimeout = time.Second
	// leaveTimeout bounds the time in which members take what this one has sent.
	leaveTimeout = 30 * time.Second
)

// Close leaves the group, after at most 30 s in which members take what this one has sent. Operations that have not ended at this
// member fail at the remaining ones.
func (c *Comm) Close() {
	c.mu.Lock()
	op := c.done
	c.mu.Unlock()
	c.leave(errClosed, header{Kind: kindLeave, Op: op}, "", leaveTimeout)
}

// fail ends the run with an error at all members. It does not wait for that. All calls return the error of the first one.
func (c *Comm) fail(err error) {
	c.cancel(err)
	err = context.Cause(c.ctx)
	h := header{Kind: kindAbort, Index: noRank}
	text := err.Error()
	var lost ErrMember
	switch {
	case errors.Is(err, group.ErrClosed): // the node closes
		h.Index = uint32(c.rank)
	case errors.As(err, &lost):
		h.Index = uint32(lost.Rank)
	}
	go c.leave(err, h, text[:min(len(text), 1000)], abortTimeout)
}

// noRank is the index of an abort for another reason than a lost member.
const noRank = 1<<32 - 1

// leave sends a last message to all members and leaves the group.
func (c *Comm) leave(why error, last header, text string, timeout time.Duration) {
	c.once.Do(func() {
		last.Run, last.Total = c.run, uint32(len(text))
		b := last.append([]byte(text))
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		_ = c.g.Cast(ctx, b)
		if last.Kind == kindLeave {
			c.g.Flush(ctx)
		}
		c.cancel(why)
		c.g.Close()
		close(c.closed)
	})
	<-c.closed
}

// err returns the error of operations, once the run has ended.
func (c *Comm) err() error {
	if c.ctx.Err() == nil {
		return nil
	}
	<-c.closed
	return context.Cause(c.ctx)
}

// receive handles what arrives until the member leaves.
func (c *Comm) receive() {
	for {
		m, err := c.g.Receive(c.ctx)
		if err != nil {
			if c.ctx.Err() == nil {
				c.fail(err)
			}
			return
		}
		c.handle(m)
	}
}

// lose handles the end of the session with a member.
func (c *Comm) lose(rank int) {
	if rank < 0 {
		return
	}
	c.mu.Lock()
	_, before := c.left[rank]
	c.mu.Unlock()
	if !before {
		c.fail(ErrMember{rank})
	}
}

// handle handles a message.
func (c *Comm) handle(m group.Message) {
	if m.Left {
		c.lose(c.roster.rank(m.From))
		return
	}
	f, err := parse(m.Bytes)
	if f.from = c.roster.rank(m.From); err != nil {
		if f.from >= 0 {
			c.fail(fmt.Errorf("rank %d: %w", f.from, err))
		}
		return
	}
	switch {
	case f.Kind == kindJoin && f.from < 0:
		go reject(c.ctx, c.g, m.From, f.Run)
	case f.Kind == kindJoin && f.Run != c.roster.Members[f.from].Call:
		c.fail(ErrMember{f.from}) // it has failed, and joins again
	case f.Kind == kindRoster && f.Run != c.run && c.rejecting.TryLock(): // a second group of the same name; Cast may block
		go func() {
			defer c.rejecting.Unlock()
			_ = c.g.Cast(c.ctx, rejection(f.Run, errFull))
		}()
	case f.Kind == kindFull && f.Run == c.run:
		c.fail(errors.New(string(f.data))) // this is the second group
	case f.Kind != kindJoin && f.from >= 0 && f.Run == c.run:
		c.handleMember(f)
	}
}

// handleMember handles a message of a member of the run.
func (c *Comm) handleMember(f frame) {
	switch f.Kind {
	case kindAbort:
		switch {
		case f.Index == uint32(c.rank):
			c.fail(ErrMember{f.from}) // the session with this member was lost
		case f.Index < uint32(c.Size()):
			c.fail(ErrMember{int(f.Index)})
		default:
			c.fail(fmt.Errorf("rank %d: %s", f.from, f.data))
		}
	case kindLeave:
		c.mu.Lock()
		c.left[f.from] = f.Op
		late := c.op > f.Op
		c.mu.Unlock()
		if late {
			c.fail(ErrMember{f.from})
		}
	case kindProbe, kindPart, kindCluster, kindFinal, kindValue, kindLink, kindFetched:
		c.put(f)
	case kindJoin, kindFull, kindRoster, kindAccept, kindStart: // repeated
	default:
		c.fail(fmt.Errorf("rank %d sends messages of another version: %w", f.from, errFrame))
	}
}

// put adds a frame to its operation, if all of its value has arrived.
func (c *Comm) put(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case f.Op == c.op && f.Call != c.call:
		c.fail(mismatch(f.Op, c.rank, c.call, f.from, f.Call))
		return
	case f.Op < c.op || f.Op == c.op && f.Kind == kindProbe:
		return
	}
	if len(f.data) < int(f.Total) {
		key := partialKey{f.from, f.header}
		key.Offset = 0
		value, known := c.partial[key]
		if !known {
			value = make([]byte, 0, f.Total)
		}
		if int(f.Offset) != len(value) {
			c.fail(fmt.Errorf("rank %d: %w", f.from, errFrame))
			return
		}
		value = append(value, f.data...)
		if c.partial[key] = value; len(value) < int(f.Total) {
			return
		}
		delete(c.partial, key)
		f.data = value
	}
	c.frames[f.Op] = append(c.frames[f.Op], f)
	c.notify()
}

func (c *Comm) notify() {
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

func mismatch(op uint32, rank int, mine call, from int, other call) error {
	return fmt.Errorf("operation %d: rank %d calls %s, and rank %d calls %s", op, rank, mine, from, other)
}

// do runs an operation with values of this member.
func (c *Comm) do(ctx context.Context, me call, root int, values [][]byte, run func() error) error {
	me.Root = uint16(root)
	if err := c.start(me); err != nil {
		return err
	}
	err := cmp.Or(context.Cause(ctx), c.check(root, values))
	if err == nil {
		err = run()
	}
	if err == nil {
		err = c.g.Drain(ctx)
	}
	if err != nil {
		c.fail(err)
		return c.err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = c.op
	return nil
}

// check checks the arguments that all operations have.
func (c *Comm) check(root int, values [][]byte) error {
	if root < 0 || root >= c.Size() {
		return fmt.Errorf("root %d of %d members", root, c.Size())
	}
	for _, b := range values {
		if len(b) > MaxValue {
			return fmt.Errorf("value of %d bytes, at most %d", len(b), MaxValue)
		}
	}
	return nil
}

// start starts an operation.
func (c *Comm) start(me call) error {
	c.mu.Lock()
	delete(c.frames, c.op)
	c.op++
	c.call = me
	for rank, last := range c.left {
		if last < c.op {
			c.fail(ErrMember{rank})
		}
	}
	for _, f := range c.frames[c.op] {
		if f.Call != me {
			c.fail(mismatch(c.op, c.rank, me, f.from, f.Call))
		}
	}
	c.notify()
	c.mu.Unlock()
	return c.err()
}

// probeAfter is the time without a message after which a member sends its operation to the next rank. Two members that wait for each
// other in different operations then fail.
const probeAfter = time.Second

// next returns the next frame of the operation.
func (c *Comm) next(ctx context.Context) (frame, error) {
	for probe := time.After(probeAfter); ; {
		c.mu.Lock()
		if all := c.frames[c.op]; len(all) > 0 {
			f := all[0]
			all[0] = frame{}
			c.frames[c.op] = all[1:]
			c.mu.Unlock()
			if f.Kind == kindProbe {
				continue
			}
			return f, nil
		}
		c.mu.Unlock()
		select {
		case <-c.arrived:
		case <-probe:
			c.send(frame{header: c.header(kindProbe)}, (c.rank+1)%c.Size())
		case <-c.ctx.Done():
			return frame{}, c.err()
		case <-ctx.Done():
			return frame{}, context.Cause(ctx)
		}
	}
}
