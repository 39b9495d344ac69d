package collective_test

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// errorsOf calls do for every member, and returns the errors by rank.
func errorsOf(t *testing.T, all []*collective.Comm, do func(ctx context.Context, c *collective.Comm) error) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() { errs[i] = do(ctx, c) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		t.Fatal("an operation hung")
	}
	return errs
}

func TestMismatchFailsAllMembers(t *testing.T) {
	sum := collective.SumFloat64
	for _, tt := range []struct {
		name string
		odd  func(ctx context.Context, c *collective.Comm) error
		want string // in the error of some member
	}{
		{"size", func(ctx context.Context, c *collective.Comm) error {
			_, err := c.AllReduce(ctx, make([]byte, 80_008), sum)
			return err
		}, "vectors of 80008 bytes"},
		{"small size", func(ctx context.Context, c *collective.Comm) error {
			_, err := c.AllReduce(ctx, make([]byte, 8), sum)
			return err
		}, "vectors of 8 bytes"},
		{"elements", func(ctx context.Context, c *collective.Comm) error {
			_, err := c.AllReduce(ctx, make([]byte, 80_000), collective.Op{Elem: 4, Merge: sum.Merge})
			return err
		}, "elements of 4"},
		{"operation", func(ctx context.Context, c *collective.Comm) error {
			_, err := c.Broadcast(ctx, 0, nil)
			return err
		}, "Broadcast"},
		{"vector not of elements", func(ctx context.Context, c *collective.Comm) error {
			_, err := c.AllReduce(ctx, make([]byte, 80_001), sum)
			return err
		}, "80001 bytes"},
		{"merge", func(ctx context.Context, c *collective.Comm) error {
			_, err := c.AllReduce(ctx, make([]byte, 80_000), collective.Op{Elem: 8, Merge: func(_, _ []byte) ([]byte, error) { return nil, errors.New("no room") }})
			return err
		}, "merge: no room"},
		{"canceled", func(ctx context.Context, c *collective.Comm) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := c.AllReduce(ctx, make([]byte, 80_000), sum)
			return err
		}, "context canceled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all := join(t, peertest.Clusters(t, 2, 2), tt.name)
			errs := errorsOf(t, all, func(ctx context.Context, c *collective.Comm) error {
				if c.Rank() == 1 {
					return tt.odd(ctx, c)
				}
				_, err := c.AllReduce(ctx, make([]byte, 80_000), sum)
				return err
			})
			named := false
			for rank, err := range errs {
				if err == nil {
					t.Errorf("rank %d: no error", rank)
				} else {
					named = named || strings.Contains(err.Error(), tt.want)
				}
			}
			if !named {
				t.Errorf("%v: want %q", errs, tt.want)
			}
		})
	}
}

// Members that wait for each other in different operations fail too.
func TestMismatchOfWaitingMembersFails(t *testing.T) {
	all := join(t, peertest.Clusters(t, 2, 2), "waiting")
	errs := errorsOf(t, all, func(ctx context.Context, c *collective.Comm) error {
		if c.Rank() == 0 {
			_, err := c.Broadcast(ctx, 1, nil)
			return err
		}
		_, err := c.Gather(ctx, 1, nil)
		if err == nil {
			_, err = c.AllReduce(ctx, make([]byte, 8), collective.SumInt64)
		}
		return err
	})
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "Broadcast") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func TestLostMemberFailsAllAndTheRestJoinsAgain(t *testing.T) {
	nodes := peertest.Clusters(t, 2, 3)
	all := join(t, nodes, "lost")
	const lost = 2
	ranked := slices.Clone(nodes) // by cluster, then by peer id
	slices.SortFunc(ranked, func(a, b *peer.Node) int {
		return cmp.Or(strings.Compare(a.Cluster(), b.Cluster()), strings.Compare(string(a.Host().ID()), string(b.Host().ID())))
	})
	victim := ranked[lost]
	started := time.Now()
	errs := errorsOf(t, all, func(ctx context.Context, c *collective.Comm) error {
		if c.Rank() == lost {
			return victim.Host().Close() // as when the process is killed
		}
		_, err := c.AllReduce(ctx, vector(c.Rank(), 100_000), collective.SumFloat64)
		return err
	})
	for rank, err := range errs {
		var member collective.ErrMember
		// The victim may report members whose connections it has closed, on those that it has not.
		if rank != lost && (!errors.As(err, &member) || member.Rank == rank) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	t.Logf("all failed after %v", time.Since(started))
	again := join(t, slices.Delete(ranked, lost, lost+1), "lost")
	each(t, again, func(ctx context.Context, c *collective.Comm) error {
		_, err := c.AllReduce(ctx, vector(c.Rank(), 10), collective.SumFloat64)
		return err
	})
}

// A member closes while it is in an operation: the other one does not wait for it.
func TestCloseInOperation(t *testing.T) {
	all := join(t, peertest.Clusters(t, 1, 2), "closes")
	const numbers = 10_000 // each member merges some
	errs := errorsOf(t, all, func(ctx context.Context, c *collective.Comm) error {
		if c.Rank() == 1 {
			for c.Early() == 0 { // until rank 0 is in the operation
				runtime.Gosched()
			}
			all[0].Close()
		}
		_, err := c.AllReduce(ctx, vector(c.Rank(), numbers), collective.SumFloat64)
		return err
	})
	var lost collective.ErrMember
	if errs[0] == nil || !errors.As(errs[1], &lost) || lost.Rank != 0 {
		t.Error(errs)
	}
}

func TestExtraMembersAreRejected(t *testing.T) {
	nodes := peertest.Clusters(t, 2, 3)
	for i := range nodes { // also one with the lowest peer id
		t.Run(nodes[i].Host().ID().String(), func(t *testing.T) {
			rest := append(append(nodes[:0:0], nodes[:i]...), nodes[i+1:]...)
			all := join(t, rest, "full")
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			_, err := collective.Join(ctx, nodes[i], "full", len(rest))
			if err == nil || !strings.Contains(err.Error(), "the group is full") {
				t.Error(err)
			}
			each(t, all, func(ctx context.Context, c *collective.Comm) error {
				_, err := c.AllReduce(ctx, vector(c.Rank(), 10), collective.SumFloat64)
				c.Close()
				return err
			})
		})
	}
}

func TestJoinWithAnotherSizeFails(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	errs := make(chan error)
	for i, n := range nodes {
		go func() {
			_, err := collective.Join(ctx, n, "sizes", 2+i)
			errs <- err
		}()
	}
	for range nodes {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "members, not") {
			t.Error(err)
		}
	}
}
