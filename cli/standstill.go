package cli

import (
	"fmt"
	"time"
)

const (
	// stillAfter is the time without progress before the first report, and stillEvery the time between
	// reports.
	stillAfter = 10 * time.Second
	stillEvery = time.Minute
)

// mover is a frame of something that may make no progress.
type mover interface {
	frame
	// position returns a comparable value that changes with any progress.
	position() any
	// waitsFor returns the reason, and what the user can do about it. An empty reason
	// is not reported.
	waitsFor() (reason, remedy string)
}

// standstill finds out that something makes no progress.
type standstill struct {
	after    time.Duration // without progress, until the first report
	position any
	since    time.Time // the last progress
	report   time.Time // when to report next
	still    bool      // for at least after
}

// look returns the line to print for m at a time, "" for none.
func (s *standstill) look(m mover, now time.Time) string {
	if at := m.position(); s.since.IsZero() || at != s.position {
		*s = standstill{after: s.after, position: at, since: now, report: now.Add(s.after)}
	}
	s.still = now.Sub(s.since) >= s.after
	if now.Before(s.report) {
		return ""
	}
	reason, remedy := m.waitsFor()
	if reason == "" {
		return ""
	}
	s.report = now.Add(stillEvery)
	text := fmt.Sprintf("no progress for %s: %s", formatDuration(now.Sub(s.since).Round(time.Second)), reason)
	if remedy != "" {
		text += "; " + remedy
	}
	return text
}
