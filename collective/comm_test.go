package collective_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// join joins with all nodes, and returns their members by rank.
func join(t testing.TB, nodes []*peer.Node, name string) []*collective.Comm {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	all := make([]*collective.Comm, len(nodes))
	var wg sync.WaitGroup
	for _, n := range nodes {
		wg.Go(func() {
			c, err := collective.Join(ctx, n, name, len(nodes))
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(c.Close)
			all[c.Rank()] = c
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// each calls do for every member concurrently.
func each(t testing.TB, all []*collective.Comm, do func(ctx context.Context, c *collective.Comm) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() {
			if err := do(ctx, c); err != nil {
				t.Errorf("rank %d: %v", c.Rank(), err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// vector returns n numbers of a rank.
func vector(rank, n int) []byte {
	b := make([]byte, 0, 8*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(rank*1000+i)))
	}
	return b
}

func sumOf(ranks, n int) []byte {
	b := make([]byte, 0, 8*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(ranks*i+1000*ranks*(ranks-1)/2)))
	}
	return b
}

// join2 merges texts in the order in which they are merged.
var texts = collective.Op{Merge: func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }}

func TestOperations(t *testing.T) {
	nodes := slices.Concat(peertest.Clusters(t, 3, 3))
	all := join(t, nodes[:8], "operations") // clusters of 3, 3 and 2
	for _, n := range []int{0, 3, 4096, 4097, 100_000} {
		t.Run(fmt.Sprintf("AllReduce %d", n), func(t *testing.T) {
			each(t, all, func(ctx context.Context, c *collective.Comm) error {
				got, err := c.AllReduce(ctx, vector(c.Rank(), n), collective.SumFloat64)
				if err == nil && !bytes.Equal(got, sumOf(len(all), n)) {
					err = errors.New("wrong sum")
				}
				return err
			})
		})
		t.Run(fmt.Sprintf("Reduce %d", n), func(t *testing.T) {
			each(t, all, func(ctx context.Context, c *collective.Comm) error {
				got, err := c.Reduce(ctx, 4, vector(c.Rank(), n), collective.SumFloat64)
				want := sumOf(len(all), n)
				if c.Rank() != 4 {
					want = nil
				}
				if err == nil && !bytes.Equal(got, want) {
					err = fmt.Errorf("wrong sum of %d bytes", len(got))
				}
				return err
			})
		})
	}
	t.Run("values merge in the order of ranks", func(t *testing.T) {
		each(t, all, func(ctx context.Context, c *collective.Comm) error {
			b := strings.Repeat(fmt.Sprint(c.Rank()), 100_000)
			got, err := c.AllReduce(ctx, []byte(b), texts)
			var want string
			for rank := range all {
				want += strings.Repeat(fmt.Sprint(rank), 100_000)
			}
			if err == nil && string(got) != want {
				err = fmt.Errorf("wrong order: %d bytes", len(got))
			}
			return err
		})
	})
	t.Run("Shuffle", func(t *testing.T) {
		each(t, all, func(ctx context.Context, c *collective.Comm) error {
			var to [][]byte
			var want string
			for rank := range all {
				to = append(to, []byte(fmt.Sprintf("%d to %d;", c.Rank(), rank)))
				want += fmt.Sprintf("%d to %d;", rank, c.Rank())
			}
			to[0] = nil
			if c.Rank() == 0 {
				want = ""
			}
			got, err := c.Shuffle(ctx, to, texts)
			if err == nil && string(got) != want {
				err = fmt.Errorf("got %q, want %q", got, want)
			}
			return err
		})
	})
	for _, size := range []int{0, 100, 700_000} {
		t.Run(fmt.Sprintf("Broadcast %d", size), func(t *testing.T) {
			want := bytes.Repeat([]byte("b"), size)
			each(t, all, func(ctx context.Context, c *collective.Comm) error {
				var b []byte
				if c.Rank() == 5 {
					b = want
				}
				got, err := c.Broadcast(ctx, 5, b)
				if err == nil && !bytes.Equal(got, want) {
					err = fmt.Errorf("got %d bytes", len(got))
				}
				return err
			})
		})
		t.Run(fmt.Sprintf("Gather %d", size), func(t *testing.T) {
			each(t, all, func(ctx context.Context, c *collective.Comm) error {
				got, err := c.Gather(ctx, 2, bytes.Repeat([]byte{byte(c.Rank())}, size))
				if err != nil {
					return err
				}
				if c.Rank() != 2 && got != nil || c.Rank() == 2 && len(got) != len(all) {
					return fmt.Errorf("%d values", len(got))
				}
				for rank, b := range got {
					if !bytes.Equal(b, bytes.Repeat([]byte{byte(rank)}, size)) {
						return fmt.Errorf("wrong value of rank %d", rank)
					}
				}
				return nil
			})
		})
	}
	for _, n := range nodes {
		if left := n.Transfers(); len(left) > 0 {
			t.Errorf("%d transfers are left", len(left))
		}
	}
}

// A long vector merges along trees of the links: its values cross two links each way.
func TestAllReduceOnTrees(t *testing.T) {
	all := join(t, peertest.Clusters(t, 3, 1), "trees")
	const n = 1 << 20 // numbers
	each(t, all, func(ctx context.Context, c *collective.Comm) error {
		err := c.SetLinks(ctx, func(a, b string) float64 {
			if a == "A" && b == "C" {
				return 0
			}
			return 1
		})
		if err != nil {
			return err
		}
		b, err := c.AllReduce(ctx, vector(c.Rank(), n), collective.SumFloat64)
		if err == nil && !bytes.Equal(b, sumOf(len(all), n)) {
			err = errors.New("wrong sum")
		}
		return err
	})
}

// Without links to all clusters, all members fail.
func TestUnconnectedLinks(t *testing.T) {
	all := join(t, peertest.Clusters(t, 2, 1), "unconnected")
	for rank, err := range errorsOf(t, all, func(ctx context.Context, c *collective.Comm) error {
		return c.SetLinks(ctx, func(_, _ string) float64 { return 0 })
	}) {
		if err == nil || !strings.Contains(err.Error(), "do not connect") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
