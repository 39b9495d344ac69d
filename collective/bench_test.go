package collective_test

import (
	"context"
	"testing"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/peer/peertest"
)

// BenchmarkAllReduce is the work of 16 members on one machine: what it takes is time of the CPU.
func BenchmarkAllReduce(b *testing.B) {
	all := join(b, peertest.Clusters(b, 4, 4), "bench")
	const size = 16 << 20
	b.SetBytes(size)
	for b.Loop() {
		each(b, all, func(ctx context.Context, c *collective.Comm) error {
			_, err := c.AllReduce(ctx, make([]byte, size), collective.SumFloat64)
			return err
		})
	}
}
