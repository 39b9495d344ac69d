package proto

import "fmt"

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

// Coding describes how a content is cut into generations and blocks for a coded transfer.
// The zero value stands for a transfer in plain pieces.
type Coding struct {
	// K is the number of source blocks in a generation. The last generation may have
	// fewer.
	K int
	// Block is the length in bytes of a source block, and so of a coded block.
	Block int
	// Strategy is how members exchange blocks.
	Strategy Strategy
}

// NewCoding returns the coding of a content with generations of k source blocks, for the
// strategy [ReceiverDriven]. Blocks have the least length at which a generation is a whole
// number of pieces. It fails when there is no such length, and when the content has more
// blocks than can be numbered.
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
			return Coding{}, fmt.Errorf("generations of %d blocks are not whole pieces of %d KiB: "+
				"take a multiple of %d, or shorter pieces", k, piece>>10, piece/longest)
		}
	}
	generation := int64(k * c.Block)
	if n := (m.Length() + generation - 1) / generation; n > int64(MaxPieces/c.Names()) {
		return Coding{}, fmt.Errorf("a content of %d bytes has too many blocks of %d KiB, at most %d: take longer pieces",
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

// Names returns the number of names in a generation: the blocks that members may request,
// of which the first K are the source blocks and the others linear combinations of them.
func (c Coding) Names() int { return namesPerBlock * c.K }
