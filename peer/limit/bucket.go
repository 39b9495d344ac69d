package limit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// credit bounds the time in which an unused bucket accumulates tokens, so that a timer that fires
// late costs no throughput. In any two seconds it adds one percent.
const credit = 20 * time.Millisecond

// A Bucket is a token bucket. Calls pass in their order, as soon as the bytes that passed before
// are paid for, so blocks longer than the depth of the bucket pass too. The zero value has no
// limit. A Bucket is safe for concurrent use.
type Bucket struct {
	rate   atomic.Int64 // 0 for no limit; written under mu
	passed atomic.Int64 // bytes that passed under a limit

	mu      sync.Mutex
	owed    float64 // bytes that passed and are not paid for, less than zero for a credit
	at      time.Time
	waiters []*waiter
	timer   *time.Timer
	starved bool // a call had to wait since [Bucket.Starved] was called
}

// waiter is a call of Wait.
type waiter struct {
	n     int
	ready chan struct{}
}

// Limited reports whether there is a limit.
func (b *Bucket) Limited() bool { return b.rate.Load() != 0 }

// Rate returns the limit.
func (b *Bucket) Rate() Rate { return Rate(b.rate.Load()) }

// SetRate changes the limit, also for calls that wait.
func (b *Bucket) SetRate(r Rate) {
	if b.Rate() == r {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle()
	b.rate.Store(int64(r))
	if r == 0 {
		b.owed = 0
	}
	b.serve()
}

// Wait waits until n more bytes may pass, or ctx ends.
func (b *Bucket) Wait(ctx context.Context, n int) error {
	if b.Try(n) {
		return nil
	}
	b.mu.Lock()
	w := &waiter{n, make(chan struct{})}
	b.waiters = append(b.waiters, w)
	b.starved = true
	b.serve()
	b.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiters, w); i >= 0 {
		b.waiters = slices.Delete(b.waiters, i, i+1)
	} else {
		b.take(-n)
	}
	b.serve()
	return ctx.Err()
}

// Try reports whether n more bytes may pass now.
func (b *Bucket) Try(n int) bool {
	if !b.Limited() {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle()
	if len(b.waiters) > 0 || !b.open() {
		b.starved = true
		return false
	}
	b.take(n)
	return true
}

// Refund returns n bytes that did not pass.
func (b *Bucket) Refund(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(-n)
	b.serve()
}

// Passed returns the number of bytes that passed while there was a limit.
func (b *Bucket) Passed() int64 { return b.passed.Load() }

// Starved reports whether a call waits, or has waited since the last call of Starved.
func (b *Bucket) Starved() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.starved
	b.starved = len(b.waiters) > 0
	return was || b.starved
}

// The methods below are called with the lock held.

// settle pays for the time since the last call.
func (b *Bucket) settle() {
	now := time.Now()
	r := float64(b.rate.Load())
	if since := now.Sub(b.at); since > 0 && !b.at.IsZero() {
		b.owed = max(b.owed-r*since.Seconds(), min(b.owed, -r*credit.Seconds()))
	}
	b.at = now
}

// open reports whether the next call may pass.
func (b *Bucket) open() bool { return !b.Limited() || b.owed <= 0 }

// take counts n bytes that pass, or -n that do not after all.
func (b *Bucket) take(n int) {
	if b.Limited() {
		b.owed += float64(n)
		b.passed.Add(int64(n))
	}
}

func (b *Bucket) serve() {
	b.settle()
	for len(b.waiters) > 0 && b.open() {
		b.take(b.waiters[0].n)
		close(b.waiters[0].ready)
		b.waiters = slices.Delete(b.waiters, 0, 1)
	}
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	if len(b.waiters) > 0 {
		after := time.Duration(b.owed / float64(b.rate.Load()) * float64(time.Second))
		b.timer = time.AfterFunc(after+time.Microsecond, func() { // rounded up
			b.mu.Lock()
			defer b.mu.Unlock()
			b.serve()
		})
	}
}
