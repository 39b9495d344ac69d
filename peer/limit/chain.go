package limit

import (
	"context"
	"slices"
)

// A Chain is a sequence of buckets that the same bytes pass.
type Chain []*Bucket

// Limited reports whether any bucket has a limit.
func (c Chain) Limited() bool { return slices.ContainsFunc(c, (*Bucket).Limited) }

// Wait waits until n bytes of payload may pass all of them.
func (c Chain) Wait(ctx context.Context, n int) error {
	for _, b := range c {
		if err := b.Wait(ctx, onWire(n)); err != nil {
			return err
		}
	}
	return nil
}

// Try reports whether n bytes of payload may pass all of them now.
func (c Chain) Try(n int) bool {
	for i, b := range c {
		if !b.Try(onWire(n)) {
			c[:i].Refund(n)
			return false
		}
	}
	return true
}

// Refund returns n bytes of payload that did not pass.
func (c Chain) Refund(n int) {
	for _, b := range c {
		b.Refund(onWire(n))
	}
}

// leastChunk is about the payload of a packet.
const leastChunk = 1400

// Chunk returns the number of bytes, at most n, to pass in one call. They take at most a fiftieth
// of a second, which keeps the rate even.
func (c Chain) Chunk(n int) int {
	for _, b := range c {
		if r := int(b.Rate()); r > 0 {
			n = min(n, max(r/50, leastChunk))
		}
	}
	return n
}

// onWire estimates the bytes that n bytes of payload take in TCP, with headers of records and blocks
// and with control messages: 2 to 3 % of the payload in a cluster of four. It excludes the headers of
// packets, 4.6 % of packets of 1500 bytes.
func onWire(n int) int { return n + n/32 }
