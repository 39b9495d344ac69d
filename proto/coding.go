package proto

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of coded transfers.
const (
	// MinCodedK and MaxCodedK bound k, the number of source blocks in a generation.
	MinCodedK = 2
	MaxCodedK = 255
	// MinCodedBlock is the least length of a source block, in bytes. The greatest is
	// [MaxBlock].
	MinCodedBlock = 64 << 10
)

// namesPerBlock is the number of names in a generation for each of its source blocks.
const namesPerBlock = 2

// Coding describes the generations and blocks of a coded transfer. The zero value means a
// transfer in plain pieces.
type Coding struct {
	// K is the number of source blocks in a generation. The last generation may have
	// fewer.
	K int
	// Block is the length in bytes of a source block, and so of a coded block.
	Block int
	// Strategy is how members exchange blocks.
	Strategy Strategy
}

// NewCoding returns the coding of the content with generations of k source blocks, for the
// strategy [ReceiverDriven]. Blocks have the least length that makes a generation a multiple of the piece length.
// It fails if there is no such length, or if the content has more blocks than can be numbered.
func NewCoding(m *Manifest, k int) (Coding, error) {
	if err := CheckCodedK(k); err != nil {
		return Coding{}, err
	}
	piece := int(m.PieceLength)
	c := Coding{K: k, Block: MinCodedBlock}
	if piece < c.Block {
		return Coding{}, fmt.Errorf("pieces of %d KiB are shorter than a coded block of %d KiB: take longer ones", piece>>10, c.Block>>10)
	}
	for k*c.Block%piece != 0 {
		c.Block *= 2
		if longest := min(piece, MaxBlock); c.Block > longest {
			return Coding{}, fmt.Errorf("generations of %d blocks are not a multiple of pieces of %d KiB: "+
				"take a multiple of %d, or shorter pieces", k, piece>>10, piece/longest)
		}
	}
	generation := int64(k * c.Block)
	if n := (m.Length() + generation - 1) / generation; n > int64(MaxPieces/c.Names()) {
		return Coding{}, fmt.Errorf("%d bytes have too many blocks of %d KiB, at most %d: take longer pieces",
			m.Length(), c.Block>>10, MaxPieces/namesPerBlock)
	}
	return c, nil
}

// CheckCodedK reports why a generation cannot have k source blocks.
func CheckCodedK(k int) error {
	if k < MinCodedK || k > MaxCodedK {
		return fmt.Errorf("generations of %d blocks: want %d to %d", k, MinCodedK, MaxCodedK)
	}
	return nil
}

// Coded reports whether the transfer is coded.
func (c Coding) Coded() bool { return c.K > 0 }

// Names returns the number of names in a generation, which are the blocks that members may
// request. The first K are the source blocks, the rest linear combinations of them.
func (c Coding) Names() int { return namesPerBlock * c.K }

// The feature bits of a [Hello].
const (
	// featureCoded: the sender is in a coded transfer and numbers blocks instead of
	// pieces. The eight bits from featureKShift hold k.
	featureCoded  = 1 << 0
	featureKShift = 8
	// featureGossip: the sender is in a transfer by permutation gossip. k is as above;
	// the four bits from featureStrategyShift hold the [Strategy].
	featureGossip        = 1 << 1
	featureStrategyShift = 16
	// 1 << 2 is reserved: it was in use.

	// FeatureDemand: the sender understands [Demand].
	FeatureDemand = 1 << 3
	// FeatureHosts: the sender follows a plan, and understands [Hosts].
	FeatureHosts = 1 << 4
)

// Features returns the feature bits of a [Hello] in a transfer with this coding.
func (c Coding) Features() uint64 {
	switch {
	case !c.Coded():
		return 0
	case c.Strategy.Gossip():
		return featureGossip | uint64(c.K)<<featureKShift | uint64(c.Strategy)<<featureStrategyShift
	}
	return featureCoded | uint64(c.K)<<featureKShift
}

// CodingOf returns the coding of a peer whose [Hello] has these features, without the length
// of its blocks.
func CodingOf(features uint64) Coding {
	if features&(featureCoded|featureGossip) == 0 {
		return Coding{}
	}
	c := Coding{K: int(features >> featureKShift & 0xff)}
	if features&featureGossip != 0 {
		c.Strategy = Strategy(features >> featureStrategyShift & 0xf)
	}
	return c
}

// Agrees reports whether a peer whose [Hello] has these features uses the same coding.
func (c Coding) Agrees(features uint64) bool {
	if features&(featureCoded|featureGossip) == 0 {
		return !c.Coded()
	}
	const known = featureCoded | featureGossip | 0xff<<featureKShift | 0xf<<featureStrategyShift
	return features&known == c.Features()
}

// Strategy is how the members of a coded transfer exchange blocks.
type Strategy uint8

// The strategies. All but [ReceiverDriven] are permutation gossip within one cluster
// (Cooper). They differ in when nodes continue with the next generation: Sequential once all
// nodes have decoded a generation, Overlap1 and Overlap2 before that. RandomBlock is the
// baseline: plain blocks, one generation after the other.
const (
	// ReceiverDriven: members request blocks from each other.
	ReceiverDriven Strategy = iota
	Sequential
	Overlap1
	Overlap2
	RandomBlock
	strategies
)

// strategyNames are the names in links and on the command line.
//
//nolint:gochecknoglobals // a table
var strategyNames = [strategies]string{"", "permutation", "overlap1", "overlap2", "rb"}

// StrategyNames returns the names of all strategies but [ReceiverDriven], which has none.
func StrategyNames() []string { return strategyNames[1:] }

// ParseStrategy is the inverse of [Strategy.String]; "" is [ReceiverDriven].
func ParseStrategy(name string) (Strategy, error) {
	i := slices.Index(strategyNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("strategy %q: want one of %s", name, strings.Join(StrategyNames(), ", "))
	}
	return Strategy(i), nil
}

// String returns the name, which is empty for [ReceiverDriven].
func (s Strategy) String() string {
	if s >= strategies {
		return "?"
	}
	return strategyNames[s]
}

// Gossip reports whether s is permutation gossip.
func (s Strategy) Gossip() bool { return s != ReceiverDriven }
