package proto

import "fmt"

// Limits of coded transfers.
const (
	// MinCodedK and MaxCodedK bound the source blocks of a generation, k.
	MinCodedK = 2
	MaxCodedK = 255
	// MinCodedBlock bounds a source block from below, in bytes, a power of two; above
	// it is bounded by [MaxBlock].
	MinCodedBlock = 64 << 10
	// CodedNames is how many blocks of a generation have a name, for each source block
	// that a whole one has.
	CodedNames = 2
)

// Coding says how a content is cut for a coded transfer. The zero value is for one
// in plain pieces.
type Coding struct {
	// K is how many source blocks a generation has, of which the last may have fewer.
	K int
	// Block is the length of a source block, and of every coded one, in bytes.
	Block int
	// Strategy is how blocks go round.
	Strategy Strategy
}

// NewGossip is the coding of a content for permutation gossip.
func NewGossip(m *Manifest, k int, s Strategy) (Coding, error) {
	c, err := NewCoding(m, k)
	c.Strategy = s
	return c, err
}

// NewCoding is the coding of a content by generations of k: its blocks are the
// least with which k of them are whole pieces. It fails when there is no such block,
// or when the content has too many.
func NewCoding(m *Manifest, k int) (Coding, error) {
	if err := CheckCodedK(k); err != nil {
		return Coding{}, err
	}
	piece := int(m.PieceLength)
	c := Coding{K: k, Block: MinCodedBlock}
	for k*c.Block%piece != 0 {
		if c.Block *= 2; c.Block > min(piece, MaxBlock) {
			least := piece / min(piece, MaxBlock)
			return Coding{}, fmt.Errorf("generations of %d blocks are not whole pieces of %d KiB: take a multiple of %d, or shorter pieces", k, piece>>10, least)
		}
	}
	generation := int64(k * c.Block)
	if n := (m.Length() + generation - 1) / generation; n > int64(MaxPieces/c.Names()) {
		return Coding{}, fmt.Errorf("a content of %d bytes has too many blocks of %d KiB, at most %d: take longer pieces", m.Length(), c.Block>>10, MaxPieces/CodedNames)
	}
	return c, nil
}

// CheckCodedK reports why generations cannot have k source blocks.
func CheckCodedK(k int) error {
	if k < MinCodedK || k > MaxCodedK {
		return fmt.Errorf("generations of %d blocks: want %d to %d", k, MinCodedK, MaxCodedK)
	}
	return nil
}

// Coded says whether the transfer is coded.
func (c Coding) Coded() bool { return c.K > 0 }

// Names is how many blocks of a generation have a name.
func (c Coding) Names() int { return CodedNames * c.K }

// The feature bits of a [Hello].
const (
	// FeatureCoded says that the sender speaks of the numbers of coded blocks; the
	// bits from featureKShift on then hold k.
	FeatureCoded  = 1 << 0
	featureKShift = 8
	// FeatureGossip says that the sender speaks of permutation gossip; k is there as
	// well, and the bits from featureStrategyShift on hold the strategy.
	FeatureGossip        = 1 << 1
	featureStrategyShift = 16
	// 1 << 2 was in use, and is not given away again.
)

// Features are the bits of a [Hello] for a transfer with this coding.
func (c Coding) Features() uint64 {
	switch {
	case !c.Coded():
		return 0
	case c.Strategy.Gossip():
		return FeatureGossip | uint64(c.K)<<featureKShift | uint64(c.Strategy)<<featureStrategyShift
	}
	return FeatureCoded | uint64(c.K)<<featureKShift
}

// CodingOf is the coding that the features of a [Hello] name, without the length of its blocks.
func CodingOf(features uint64) Coding {
	if features&(FeatureCoded|FeatureGossip) == 0 {
		return Coding{}
	}
	c := Coding{K: int(features >> featureKShift & 0xff)}
	if features&FeatureGossip != 0 {
		c.Strategy = Strategy(features >> featureStrategyShift & 0xf)
	}
	return c
}

// Agrees reports whether a peer whose Hello has these features uses the same coding.
func (c Coding) Agrees(features uint64) bool {
	if features&(FeatureCoded|FeatureGossip) == 0 {
		return !c.Coded()
	}
	const known = FeatureCoded | FeatureGossip | 0xff<<featureKShift | 0xf<<featureStrategyShift
	return features&known == c.Features()
}
