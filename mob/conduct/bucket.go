package conduct

import "time"

// bucket is a token bucket. The zero bucket is full.
type bucket struct {
	taken float64
	at    time.Time
}

// take removes n tokens from a bucket of the given size, which gets rate tokens per second. It reports
// false if there were too few.
func (b *bucket) take(now time.Time, n, size, rate float64) bool {
	b.taken = max(0, b.taken-now.Sub(b.at).Seconds()*rate) + n
	b.at = now
	return b.taken <= size
}
