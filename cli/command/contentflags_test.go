package command

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestStrategyK checks that a generation is a number of complete pieces, for each piece length.
func TestStrategyK(t *testing.T) {
	t.Parallel()
	for n := uint32(proto.MinCodedBlock); n <= proto.MaxPieceLength; n *= 2 {
		if _, err := proto.NewCoding(&proto.Manifest{PieceLength: n}, strategyK); err != nil {
			t.Errorf("pieces of %d KiB: %v", n>>10, err)
		}
	}
}
