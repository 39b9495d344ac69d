package flow

import "time"

// Limits are the constants of the package. Sizes are in bytes.
type Limits struct {
	// Queue is the longest time that a byte should wait before a link. Windows aim at a fifth of it,
	// in addition to what fairness takes; from two thirds on fewer members are active at the link. On
	// the LAN the bytes in flight are the measured rate times the round trip plus a quarter of Queue.
	// A longer Queue fills a jittery link better, but delays claims and the end game.
	Queue time.Duration
	// MinBlock and MaxBlock bound a request; powers of two. A block is at most half of what may be in
	// flight on a link, and a quarter on a far one and between racks. On the LAN it takes about half of
	// Queue at the measured rate, and is at least LANBlock, since each block costs CPU.
	MinBlock, LANBlock, MaxBlock int
	// MaxWindow bounds the bytes in flight on a link to another cluster, and the bytes queued at one
	// local peer.
	MaxWindow int
}

// aim returns the queue that windows aim at, without the part for fairness.
func (l *Limits) aim() time.Duration { return l.Queue / 5 }
