package bittorrent

import (
	"math/rand/v2"
	"net/netip"
)

// crowd is peers in no order.
type crowd []*peer

func (c *crowd) add(p *peer) {
	p.crowd, p.at = c, len(*c)
	*c = append(*c, p)
}

func (c *crowd) remove(p *peer) {
	last := len(*c) - 1
	c.swap(p.at, last)
	(*c)[last] = nil
	*c = (*c)[:last]
}

func (c crowd) swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].at, c[j].at = i, j
}

// sample appends the addresses of n of the crowd, or of all where there are fewer:
// never of self, and of all others with the same chance.
func (c crowd) sample(out []netip.AddrPort, n int, self *peer, rng *rand.Rand) []netip.AddrPort {
	for i := 0; i < len(c) && n > 0; i++ {
		c.swap(i, i+rng.IntN(len(c)-i))
		if c[i] != self {
			out = append(out, c[i].addr)
			n--
		}
	}
	return out
}

// family is the peers of a torrent with addresses of one family.
type family struct{ whole, partial crowd }

// handout is up to n peers for self, which may be of another family. Who lacks
// nothing is told of seeds only where others are too few: a client that has a magnet
// link and nothing else says that it lacks nothing, aria2 and transmission do. Others
// are told of both kinds, half and half where there are so many: seeds have all, and
// those that lack as much are there to swap with.
func (f *family) handout(n int, self *peer, rng *rand.Rand) []netip.AddrPort {
	if self.whole() {
		out := f.partial.sample(nil, n, self, rng)
		return f.whole.sample(out, n-len(out), self, rng)
	}
	out := f.partial.sample(nil, n-min(n/2, len(f.whole)), self, rng)
	return f.whole.sample(out, n-len(out), self, rng)
}
