package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"
)

// A stream sends changes each second, and an event after 15 seconds in any case, so that both ends
// notice a lost connection.
const (
	eventEvery = time.Second
	sendAnyway = 15 * time.Second
)

const (
	// maxDetail bounds the query parameter detail, in bytes.
	maxDetail = 256
	// maxDetails bounds the details whose events are made at a time. Clients that ask for more get events without.
	maxDetails = 16
)

// HandleStream answers a pattern with server-sent events. The first one, hello, reports whether the client
// may make changes: {"owner":bool}. The next ones are snapshots as JSON, passed through public for clients without
// the token. detail is the query parameter of that name: the event has details of that subject. snapshot is
// called at most once a second for each of 16 details, for all clients together.
func (s *Server) HandleStream(pattern string, snapshot func(detail string) any, public func(json string) string) {
	f := &feed{snapshot: snapshot, public: public, every: s.every, last: map[string]*event{}}
	s.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.stream(w, r, f) }))
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, f *feed) {
	detail := r.URL.Query().Get("detail")
	if len(detail) > maxDetail {
		http.Error(w, "the name is too long", http.StatusBadRequest)
		return
	}
	release, ok := s.streams.Take(remoteHost(r.RemoteAddr))
	if !ok {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer release()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(b []byte) error {
		_, err := w.Write(b)
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		return err
	}
	owner := s.owned(r)
	if send(fmt.Appendf(nil, "event: hello\ndata: {\"owner\":%t}\n\n", owner)) != nil {
		return
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	var sent []byte
	var at time.Time
	for {
		if b := f.now(detail, owner); !bytes.Equal(b, sent) || time.Since(at) > sendAnyway {
			if send(b) != nil {
				return // the client left, or does not read
			}
			sent, at = b, time.Now()
		}
		select {
		case <-tick.C:
			if s.owned(r) != owner { // the cookie has ended
				return
			}
		case <-r.Context().Done():
			return
		case <-s.closing:
			return
		}
	}
}

// feed makes the events of a stream, for all clients.
type feed struct {
	snapshot func(detail string) any
	public   func(json string) string
	every    time.Duration

	mu   sync.Mutex
	last map[string]*event // by detail
}

// event is an encoded snapshot. Its lock is held while it is made.
type event struct {
	detail string
	used   time.Time // of the last request; guarded by the lock of the feed

	mu     sync.Mutex
	at     time.Time
	data   []byte
	public []byte // for clients without the token
}

// of returns the event of a detail, or the one without details if there are too many. It forgets details without recent requests.
func (f *feed) of(detail string) *event {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, e := time.Now(), f.last[detail]
	if e == nil {
		maps.DeleteFunc(f.last, func(_ string, e *event) bool { return now.Sub(e.used) > 2*f.every })
		if len(f.last) >= maxDetails {
			detail = ""
		}
		e = cmp.Or(f.last[detail], &event{detail: detail})
		f.last[detail] = e
	}
	e.used = now
	return e
}

// now returns the event of now, for a client with the token or without.
func (f *feed) now(detail string, owner bool) []byte {
	e := f.of(detail)
	e.mu.Lock()
	defer e.mu.Unlock()
	if at := time.Now(); e.data == nil || at.Sub(e.at) > f.every*9/10 {
		b, err := json.Marshal(f.snapshot(e.detail))
		if err != nil {
			b = []byte("null") // a type that has no JSON: a test would see
		}
		e.at, e.data = at, fmt.Appendf(nil, "data: %s\n\n", b)
		e.public = fmt.Appendf(nil, "data: %s\n\n", f.public(string(b)))
	}
	if !owner {
		return e.public
	}
	return e.data
}
