package coded

import (
	"math/rand/v2"

	"github.com/mobgrid/mob/proto"
)

// In permutation gossip two generations are sent at a time.
const (
	// maxGathered bounds the generations that are gathered at a time. Blocks of a third may still come
	// from nodes that are behind.
	maxGathered = 3
	// maxKept is the number of complete generations kept in memory.
	maxKept = 2
)

// recodedContent has blocks with their coefficients. Safe for concurrent use.
type recodedContent struct {
	*content
	rng *rand.Rand // guarded by the content's lock
}

func newRecoded(d disk) *recodedContent {
	return &recodedContent{newContent(d, maxKept, maxGathered), rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
}

// plain reports whether source blocks are sent as they are, not combined.
func (c *recodedContent) plain() bool { return c.Coding.Strategy == proto.RandomBlock }

// frame returns the length in bytes of a block of a generation with its coefficients.
func (c *recodedContent) frame(generation int) int { return c.Blocks(generation) + c.Coding.Block }

// take adds a block, coefficients and payload, to its generation. It does not keep data.
func (c *recodedContent) take(number int, data []byte) (out outcome, err error) {
	out = outcome{verdict: invalid, block: -1, dropped: -1}
	if number < 0 || number >= c.Generations() || len(data) != c.frame(number) {
		return out, nil
	}
	vector, payload := data[:c.Blocks(number)], data[c.Blocks(number):]
	terms, block := termsOf(vector)
	if terms == 0 || c.plain() && block < 0 {
		return out, nil
	}
	g, dropped, err := c.activate(number)
	out = outcome{verdict: ignored, block: block, dropped: dropped}
	if g == nil || err != nil {
		return out, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != gathering {
		return out, nil
	}
	own, err := c.add(g, vector, payload)
	switch {
	case own == nil || err != nil:
		out.verdict = useless
	case g.decoder.Full():
		out.verdict = full
	default:
		out.verdict = held
	}
	return out, err
}

// termsOf returns the number of source blocks in a combination, and which one it is if it is an unchanged
// source block, else -1.
func termsOf(vector []byte) (terms, block int) {
	for i, x := range vector {
		if x != 0 {
			terms, block = terms+1, i
		}
	}
	if terms != 1 || vector[block] != 1 {
		block = -1
	}
	return terms, block
}

// decode decodes a full generation, and drops it if it fails its hashes. It takes long; blocks of the
// generation can be sent during that time. Errors are the store's.
func (c *recodedContent) decode(number int) (good bool, err error) {
	g := c.lookup(number)
	if g == nil {
		return false, nil // dropped
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != gathering {
		return false, nil
	}
	good, err = c.content.decode(g)
	if !good {
		c.end(g)
	}
	return good, err
}
