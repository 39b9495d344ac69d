package coded

import (
	"crypto/ed25519"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// namedContent has blocks with names and signatures. Safe for concurrent use.
type namedContent struct {
	*content
	swarm     []byte                     // the content id: signatures are bound to it
	key       ed25519.PrivateKey         // signs the blocks that the node makes
	knows     func(id proto.PeerID) bool // see [payload.Swarm]
	polluters map[publicKey]bool         // encoders that signed corrupt blocks; guarded by mu
}

// liveBytes is about the size of all active generations.
const liveBytes = 32 << 20

// Live returns the number of generations of a coding that a node fetches concurrently.
func Live(c proto.Coding) int { return max(liveBytes/(c.K*c.Block), 4) }

// cached returns the number of complete generations of a coding that a node keeps in memory for encoding.
// Each peer requests blocks of Live generations, and peers request different ones. To read and hash a
// generation for each block would cost more than everything else.
func cached(c proto.Coding) int { return 2 * Live(c) }

func newNamed(d disk, swarm []byte, key ed25519.PrivateKey, knows func(proto.PeerID) bool, cache int) *namedContent {
	return &namedContent{newContent(d, cache, 0), swarm, key, knows, map[publicKey]bool{}}
}

// take adds a requested block to its generation, and decodes that once it is full, which takes long. It does
// not keep data. It fails with an error of the store, or a damagedError.
//
// While a generation is gathered no signature is checked: if its pieces match their hashes, all blocks
// were valid. A signature is checked before the block is forwarded, and when hashes do not match.
func (c *namedContent) take(number uint32, sender proto.PeerID, o *proto.Origin, data []byte) (outcome, error) {
	generation, name := c.of(number)
	var out outcome
	if generation >= c.Generations() || len(data) != c.Coding.Block {
		out.verdict, out.faults = invalid, []fault{{number, sender}}
		return out, nil
	}
	g, _, err := c.activate(generation)
	if g == nil || err != nil {
		return out, err
	}
	b := &namedBlock{payload: data, origin: *o, sender: sender, claim: claim{name: name, encoder: o.Encoder}}
	admitted := c.admits(b)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.held[name] != nil || g.state == ended: // a duplicate
	case !admitted:
		out.verdict = rejected
	case g.state == gathering:
		err = c.gather(g, b, &out)
	case g.state == repairing:
		err = c.repair(g, b, &out)
	default:
		out.verdict = ignored
	}
	return out, err
}

// gather adds a block to a generation, and decodes that once it is full. The caller holds its lock, which
// is released during the decoding.
func (c *namedContent) gather(g *generation, b *namedBlock, out *outcome) error {
	v := make([]byte, g.k)
	rlnc.Named(v, b.name)
	own, err := c.add(g, v, b.payload)
	if own == nil || err != nil {
		out.verdict = useless
		return err
	}
	b.payload = own
	g.held[b.name] = b
	out.verdict = held
	if !g.decoder.Full() {
		return nil
	}
	return c.finish(g, out)
}

// finish decodes a full generation. If a piece fails its hash, it drops forged blocks, or starts a
// repair if there are none.
func (c *namedContent) finish(g *generation, out *outcome) error {
	good, err := c.decode(g)
	switch {
	case err != nil:
		return err
	case good:
		out.verdict = decoded
		return nil
	}
	forged, err := c.purge(g, func(*namedBlock) bool { return true }, out)
	if !forged {
		c.startRepair(g, out)
	}
	return err
}
