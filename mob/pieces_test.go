package mob_test

import (
	"testing"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pickertest"
	"github.com/mobgrid/mob/proto"
)

// fuzzPieces is the number of pieces in these tests. The last one is short.
const fuzzPieces = 40

func piecesSubject() pickertest.Subject {
	return pickertest.Subject{
		Picker: mob.NewPieces(fuzzPieces*(64<<10)-5000, 64<<10),
		Right:  func(i int) mob.Event { return mob.Stored{Piece: i} },
		Check:  mob.CheckBooks,
	}
}

func TestPieces(t *testing.T) { pickertest.Conformance(t, piecesSubject) }

func FuzzStep(f *testing.F) {
	pickertest.Fuzz(f, func() (pickertest.Subject, []proto.Range) {
		return piecesSubject(), []proto.Range{{First: 3, Count: 2}}
	})
}

func BenchmarkPick(b *testing.B) {
	pickertest.Benchmark(b, func() mob.Picker { return mob.NewPieces(20000*(256<<10), 256<<10) })
}
