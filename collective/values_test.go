package collective_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/peer/peertest"
)

func TestRecoveredPanicFailsAllMembers(t *testing.T) {
	all := join(t, peertest.Clusters(t, 2, 2), "panic")
	errs := errorsOf(t, all, func(ctx context.Context, c *collective.Comm) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		_, err = c.AllReduce(ctx, make([]byte, 80_000), collective.Op{Elem: 8, Merge: func(dst, _ []byte) ([]byte, error) {
			if c.Rank() == 1 {
				panic("no room")
			}
			return dst, nil
		}})
		return err
	})
	for rank, err := range errs {
		if err == nil {
			t.Errorf("rank %d: no error", rank)
		}
	}
}

// A member that is late cannot be sent the values of many operations: those that send wait for it.
func TestMembersDoNotRunAhead(t *testing.T) {
	all := join(t, peertest.Clusters(t, 2, 2), "ahead")
	for _, tt := range []struct {
		name  string
		late  int
		waits func(rank int) bool
		do    func(ctx context.Context, c *collective.Comm) error
	}{
		{"Gather", 1, func(rank int) bool { return rank != 1 }, func(ctx context.Context, c *collective.Comm) error {
			_, err := c.Gather(ctx, 1, []byte("value"))
			return err
		}},
		{"Reduce", 1, func(rank int) bool { return rank != 1 }, func(ctx context.Context, c *collective.Comm) error {
			_, err := c.Reduce(ctx, 1, vector(c.Rank(), 10), collective.SumFloat64)
			return err
		}},
		{"Broadcast", 2, func(rank int) bool { return rank == 1 }, func(ctx context.Context, c *collective.Comm) error {
			_, err := c.Broadcast(ctx, 1, []byte("value"))
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var called atomic.Bool
			returned := make(chan int, len(all))
			each(t, all, func(ctx context.Context, c *collective.Comm) error {
				if c.Rank() == tt.late {
					select {
					case rank := <-returned:
						return fmt.Errorf("rank %d did not wait", rank)
					case <-time.After(200 * time.Millisecond):
					}
					called.Store(true)
				}
				err := tt.do(ctx, c)
				if err == nil && tt.waits(c.Rank()) && !called.Load() {
					returned <- c.Rank()
				}
				return err
			})
		})
	}
}

// A root waits for a member that is late. The remaining members do not, and call the next operations.
func TestMemberLateForBroadcasts(t *testing.T) {
	all := join(t, peertest.Clusters(t, 2, 2), "late")
	var failed atomic.Bool
	each(t, all, func(ctx context.Context, c *collective.Comm) (err error) {
		defer func() { failed.CompareAndSwap(false, err != nil) }()
		for c.Rank() == 3 && c.Early() < 2 && !failed.Load() {
			time.Sleep(time.Millisecond)
		}
		for root := range 2 {
			b, err := c.Broadcast(ctx, root, []byte{byte(root)})
			if err != nil || !bytes.Equal(b, []byte{byte(root)}) {
				return fmt.Errorf("value of root %d: %v, %w", root, b, err)
			}
		}
		sum, err := c.AllReduce(ctx, vector(c.Rank(), 10), collective.SumFloat64)
		if err == nil && !bytes.Equal(sum, sumOf(len(all), 10)) {
			err = errors.New("wrong sum")
		}
		return err
	})
}

// Members wait for final values before they send the remaining ones of a long vector.
func TestLongVector(t *testing.T) {
	const numbers = 4_500_000 // 36 MB
	all := join(t, peertest.Clusters(t, 2, 2), "long")
	want := sumOf(len(all), numbers)
	each(t, all, func(ctx context.Context, c *collective.Comm) error {
		sum, err := c.AllReduce(ctx, vector(c.Rank(), numbers), collective.SumFloat64)
		if err == nil && !bytes.Equal(sum, want) {
			err = errors.New("wrong sum")
		}
		return err
	})
}

func TestGroupOfOne(t *testing.T) {
	c := join(t, peertest.Clusters(t, 1, 1), "one")[0]
	ctx, value := t.Context(), vector(0, 10_000)
	for range 2 {
		broadcast, err := c.Broadcast(ctx, 0, value)
		check(t, "Broadcast", broadcast, value, err)
		gathered, err := c.Gather(ctx, 0, value)
		check(t, "Gather", bytes.Join(gathered, nil), value, err)
		reduced, err := c.Reduce(ctx, 0, value, collective.SumFloat64)
		check(t, "Reduce", reduced, value, err)
		reduced, err = c.AllReduce(ctx, value, collective.SumFloat64)
		check(t, "AllReduce", reduced, value, err)
		shuffled, err := c.Shuffle(ctx, [][]byte{value}, texts)
		check(t, "Shuffle", shuffled, value, err)
	}
}

func check(t *testing.T, operation string, got, want []byte, err error) {
	t.Helper()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, error %v", operation, len(got), err)
	}
}

// A node joins a group once, and again after Close.
func TestSecondJoinOfNode(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 1)
	c := join(t, nodes, "twice")[0]
	if _, err := collective.Join(t.Context(), nodes[0], "twice", 1); err == nil {
		t.Error("a node joins a group twice")
	}
	c.Close()
	if _, err := c.Gather(t.Context(), 0, nil); err == nil {
		t.Error("a member that has left gathers")
	}
	join(t, nodes, "twice")
}
