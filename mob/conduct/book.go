package conduct

import "time"

// Book has the facts about all peers of a node.
type Book struct {
	Stalls     int64         // times that peers left requests unanswered
	ClaimTimes Answers       // from a claim of a member to the piece
	Late       time.Duration // of the node itself: the delay of its last tick

	expected time.Time    // the next tick
	suspects map[int]bool // pieces that were bad and came from several peers
	bad      map[int]bool // pieces that were bad and came from one peer
}

// Expect records the time at which the node asked for a tick.
func (b *Book) Expect(at time.Time) { b.expected = at }

// Ticked records the delay of a tick.
func (b *Book) Ticked(now time.Time) {
	if !b.expected.IsZero() {
		b.Late = max(now.Sub(b.expected), 0)
	}
}

// Failed records a bad piece that several peers sent. It is fetched again from one peer, to find the one at
// fault.
func (b *Book) Failed(piece int) { set(&b.suspects, piece) }

// FailedAlone records a bad piece that one peer sent.
func (b *Book) FailedAlone(piece int) { set(&b.bad, piece) }

// Stored records a valid piece.
func (b *Book) Stored(piece int) {
	delete(b.suspects, piece)
	delete(b.bad, piece)
}

// Suspect reports whether a piece is to be fetched from one peer only.
func (b *Book) Suspect(piece int) bool { return b.suspects[piece] }

// Bad reports whether a piece came from one peer, was bad and is not valid since.
func (b *Book) Bad(piece int) bool { return b.bad[piece] }

func set(m *map[int]bool, piece int) {
	if *m == nil {
		*m = map[int]bool{}
	}
	(*m)[piece] = true
}
