package collective_test

import (
	"context"
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
