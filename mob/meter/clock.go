package meter

import "time"

// Nonce is the time in a ping: microseconds since a node started, and never 0.
func Nonce(started, now time.Time) uint64 {
	return uint64((now.Sub(started) + time.Microsecond) / time.Microsecond)
}

// Ahead is how much a node's clock is ahead of the time in a ping, 0 when that is no time.
func Ahead(started, now time.Time, nonce uint64) time.Duration {
	const century = 1 << 52 // microseconds
	if nonce > century {
		return 0
	}
	return now.Sub(started) + time.Microsecond - time.Duration(nonce)*time.Microsecond
}
