package peertest

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// Recorder collects the log of a node.
type Recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger returns a logger to the recorder, for [Log].
func (r *Recorder) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(r, nil)) }

// Write implements [io.Writer].
func (r *Recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

// String returns what was logged.
func (r *Recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// Count returns how often a text was logged.
func (r *Recorder) Count(text string) int { return strings.Count(r.String(), text) }
