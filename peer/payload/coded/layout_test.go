package coded

import (
	"testing"

	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// TestLayout checks that each piece is in one generation, in order, and that generations
// have all bytes and blocks of the content.
func TestLayout(t *testing.T) {
	for _, k := range []int{2, 4, 16, 255} {
		const block = proto.MinCodedBlock
		for _, size := range []int64{0, 1, block, block + 1, 4 * block, 33*block + 5} {
			m := storetest.Make(t, 1, storetest.File("", size)).Manifest
			coding, err := proto.NewCoding(m, k)
			if err != nil {
				t.Fatal(err)
			}
			l := newLayout(m, coding)
			var next, blocks int
			var bytes int64
			for g := range l.Generations() {
				first, end := l.Pieces(g)
				if first != next || first >= end {
					t.Fatalf("k = %d, %d bytes: pieces %d to %d of generation %d, after %d", k, size, first, end, g, next)
				}
				sum := 0
				for ; next < end; next++ {
					if l.GenerationOf(next) != g {
						t.Errorf("k = %d, %d bytes: piece %d is of generation %d, want %d",
							k, size, next, l.GenerationOf(next), g)
					}
					sum += m.PieceSize(next)
				}
				if l.Size(g) != sum || l.Blocks(g) > k || l.Blocks(g)*coding.Block < sum || (l.Blocks(g)-1)*coding.Block >= sum {
					t.Errorf("k = %d, %d bytes: generation %d has %d bytes in %d blocks of %d, want %d",
						k, size, g, l.Size(g), l.Blocks(g), coding.Block, sum)
				}
				blocks, bytes = blocks+l.Blocks(g), bytes+int64(l.Size(g))
			}
			if next != m.Pieces() || bytes != size || blocks != l.blocks {
				t.Errorf("k = %d: %d pieces of %d, %d bytes of %d, %d blocks of %d",
					k, next, m.Pieces(), bytes, size, blocks, l.blocks)
			}
		}
	}
}
