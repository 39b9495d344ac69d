package web

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// maxDetail bounds the query parameter detail, in bytes.
const maxDetail = 256

// HandleStream answers a pattern with server-sent events. The first one, hello, reports whether the client
// may make changes: {"owner":bool}. The next ones are snapshots as JSON, passed through public for clients without
// the token. detail is the query parameter of that name: the event has details of that subject. snapshot is
// called at most once a second for each detail, for all clients together.
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
	mu     sync.Mutex
	at     time.Time
	data   []byte
	public []byte // for clients without the token
}

// now returns the event of now, for a client with the token or without. It forgets details without recent requests.
func (f *feed) now(detail string, owner bool) []byte {
	f.mu.Lock()
	e := f.last[detail]
	if e == nil {
		e = &event{}
		f.last[detail] = e
	}
	if len(f.last) > maxStreams {
		clear(f.last)
	}
	f.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()
	if at := time.Now(); e.data == nil || at.Sub(e.at) > f.every*9/10 {
		b, err := json.Marshal(f.snapshot(detail))
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
