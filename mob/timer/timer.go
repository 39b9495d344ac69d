// Package timer has the table of the times at which a node of a swarm acts.
package timer

import "time"

// Timer names a time.
type Timer uint8

// The timers.
const (
	Health  Timer = iota // check all peers
	Turn                 // a deferred piece becomes available
	Connect              // dial members
	Urgent               // send the announcements that peers wait for
	Lazy                 // send all announcements
	count
)

// Table has the time of each timer. The zero time is never.
type Table [count]time.Time

// Sooner sets a timer that has no time, or a later one.
func (t *Table) Sooner(k Timer, at time.Time) {
	if t[k].IsZero() || at.Before(t[k]) {
		t[k] = at
	}
}

// Expired reports whether a time has come, and clears it then.
func (t *Table) Expired(k Timer, now time.Time) bool {
	if t[k].IsZero() || now.Before(t[k]) {
		return false
	}
	t[k] = time.Time{}
	return true
}

// Next returns the first of all times, zero if there is none.
func (t *Table) Next() (at time.Time) {
	for _, other := range t {
		if !other.IsZero() && (at.IsZero() || other.Before(at)) {
			at = other
		}
	}
	return at
}
