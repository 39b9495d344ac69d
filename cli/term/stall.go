package term

import (
	"fmt"
	"time"
)

const (
	stallAfter = 10 * time.Second // without progress, until the first report
	// StallInterval is the time between two reports of a stall.
	StallInterval = time.Minute
)

// Progress is a [Frame] of work that may stall.
type Progress interface {
	Frame
	// Position returns a comparable value that changes with any progress.
	Position() any
	// Waiting returns the reason of a stall, and a remedy for the user. An empty reason is not reported.
	Waiting() (reason, remedy string)
}

// stallDetector detects that work makes no progress.
type stallDetector struct {
	StallAfter time.Duration // without progress, until the first report
	Stalled    bool          // for at least StallAfter
	position   any
	since      time.Time // the last progress
	report     time.Time // when to report next
}

// look returns the report to print at a time, "" for none.
func (s *stallDetector) look(p Progress, now time.Time) string {
	if at := p.Position(); s.since.IsZero() || at != s.position {
		*s = stallDetector{StallAfter: s.StallAfter, position: at, since: now, report: now.Add(s.StallAfter)}
	}
	s.Stalled = now.Sub(s.since) >= s.StallAfter
	if now.Before(s.report) {
		return ""
	}
	reason, remedy := p.Waiting()
	if reason == "" {
		return ""
	}
	s.report = now.Add(StallInterval)
	text := fmt.Sprintf("no progress for %s: %s", Duration(now.Sub(s.since).Round(time.Second)), reason)
	if remedy != "" {
		text += "; " + remedy
	}
	return text
}
