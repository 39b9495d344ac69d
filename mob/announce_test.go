package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// TestBusyMembersHearOfPiecesTogether has a node get pieces that are new to its cluster, one after the
// other. A member hears of each at once, unless machines are busy: then one message tells of several.
func TestBusyMembersHearOfPiecesTogether(t *testing.T) {
	const pieces = 8
	for answer, most := range map[time.Duration]int{time.Millisecond: pieces, 300 * time.Millisecond: 2} {
		s := newWitness("b", "B")
		s.joins("B", "c")
		s.hears(Received{"c", &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
		s.site().AnswerTime = answer
		take[Send](s)
		for i := range pieces {
			s.now = s.now.Add(time.Millisecond)
			s.did = append(s.did, s.Step(s.now, Stored{Piece: i})...)
		}
		s.hears(Tick{}, Tick{})
		messages, told := 0, 0
		for _, a := range take[Send](s) {
			if m, ok := a.Message.(*proto.Have); ok {
				messages++
				for range bitset.Numbers(m.Have, 64) {
					told++
				}
			}
		}
		if told != pieces || messages > most || most == pieces && messages < most {
			t.Errorf("members answer in %v: %d messages told of %d pieces, want %d of %d", answer, messages, told, most, pieces)
		}
	}
}
