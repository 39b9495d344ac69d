package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mobgrid/mob/cli/metrics"
	"github.com/mobgrid/mob/cli/web"
)

const (
	// healthTimeout is the time for a node to answer until it counts as hung.
	healthTimeout = 5 * time.Second
	// healthKeep is the time during which an answer is reused.
	healthKeep = 200 * time.Millisecond
)

// Health reports whether a node or a tracker works. Its methods may be called concurrently.
type Health struct {
	probe func(context.Context) error // it may hang
	ready atomic.Bool

	mu   sync.Mutex
	last *probing // nil before the first
}

// probing is a call of probe. At most one runs at a time.
type probing struct {
	began time.Time
	done  chan struct{}
	err   error // constant once done is closed
}

// NewHealth returns the health of a process that probe checks.
func NewHealth(probe func(context.Context) error) *Health { return &Health{probe: probe} }

// check reports why the node does not work, or that it does not answer before ctx ends.
func (h *Health) check(ctx context.Context) error {
	p := h.current()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("it has not answered for %v", time.Since(p.began).Round(time.Second))
	}
}

// current returns the running probe, or a new one if the last was long ago.
func (h *Health) current() *probing {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last != nil {
		select {
		case <-h.last.done:
			if time.Since(h.last.began) < healthKeep {
				return h.last
			}
		default:
			return h.last
		}
	}
	p := &probing{began: time.Now(), done: make(chan struct{})}
	h.last = p
	go func() {
		p.err = h.probe(context.Background())
		close(p.done)
	}()
	return p
}

// Register adds metrics and health to the server of --http.
func (h *Health) Register(s *web.Server, c prometheus.Collector) {
	s.Handle("GET /metrics", metrics.NewHandler(c))
	s.HandleOpen("GET /healthz", h.handler(func() bool { return true }))
	s.HandleOpen("GET /readyz", h.handler(h.ready.Load))
}

// errNotReady answers /readyz before the start is over, and once the end begins.
var errNotReady = errors.New("it is starting or shutting down")

// handler answers with whether the process works, once ready returns true.
func (h *Health) handler(ready func() bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
		defer cancel()
		err := errNotReady
		if ready() {
			err = h.check(ctx)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
}
