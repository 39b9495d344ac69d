package limit

import (
	"context"
	"slices"
)

// Chain is the buckets that some bytes pass, one after the other.
type Chain []*Bucket

// Limited reports whether any of them has a limit.
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

// Try reports whether n bytes of payload may pass all of them at once.
func (c Chain) Try(n int) bool {
	for i, b := range c {
		if !b.Try(onWire(n)) {
			c[:i].Refund(n)
			return false
		}
	}
	return true
}

// Refund takes back n bytes of payload that did not pass after all.
func (c Chain) Refund(n int) {
	for _, b := range c {
		b.Refund(onWire(n))
	}
}

// leastChunk is about the payload of a packet.
const leastChunk = 1400

// Chunk returns how many of n bytes to pass at once: no more than take a fiftieth of a
// second, so that the rate is even.
func (c Chain) Chunk(n int) int {
	for _, b := range c {
		if r := int(b.Rate()); r > 0 {
			n = min(n, max(r/50, leastChunk))
		}
	}
	return n
}

// onWire returns about how many bytes the payload takes in TCP, with the headers of TLS and of blocks,
// and the messages that go with them: 2 to 3 % of the payload in a cluster of four. The headers of
// packets are not in it: they take 4.6 % where packets have 1500 bytes.
func onWire(n int) int { return n + n/32 }
