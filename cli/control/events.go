package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/mobgrid/mob/peer"
)

const (
	// peersEvery is the time between two looks at who joined and left.
	peersEvery = time.Second
	// aliveEvery is the time after which a stream without events says that it is one.
	aliveEvery = 5 * time.Second
	// eventTimeout is how long a reader of events may read nothing.
	eventTimeout = 10 * time.Second
)

// Kinds of events besides those of a node.
const (
	eventPeers peer.EventKind = "peers" // peers joined or left
	eventAlive peer.EventKind = "alive" // nothing happened
	eventEnd   peer.EventKind = "end"   // the stream ends, Text says why
)

// NodeEvent is a line of the stream of events.
type NodeEvent struct {
	peer.Event
	// Peers counts the peers of the transfer, and Joined and Left those that did so since the last
	// such event.
	Peers  int64 `json:"peers,omitempty"`
	Joined int64 `json:"joined,omitempty"`
	Left   int64 `json:"left,omitempty"`
}

// Events calls each with what happens at the node: first with the phase that each transfer is in,
// and then, if follow is set, until ctx ends or the daemon does, which is an error. name is a
// content id, link or path of the only transfer that it is about, or empty.
func (c *Client) Events(ctx context.Context, name string, follow bool, each func(NodeEvent) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(streamTimeout, func() { cancel(c.hung()) })
	defer silent.Stop()
	query := url.Values{"name": {name}}
	if !follow {
		query.Set("now", "")
	}
	resp, err := c.send(ctx, "GET", "/v1/events?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := json.NewDecoder(resp.Body)
	for {
		var e NodeEvent
		err := lines.Decode(&e)
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return c.explain(ctx, err)
		case e.Kind == eventEnd && e.Text == "":
			return nil
		case e.Kind == eventEnd:
			return errors.New(e.Text)
		}
		silent.Reset(streamTimeout)
		if e.Kind == eventAlive {
			continue
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

// events answers with what happens, a line for each event.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	e := &eventStream{server: s, request: r, ctl: http.NewResponseController(w), lines: json.NewEncoder(w), sessions: map[string]sessions{}}
	query := r.URL.Query()
	if name := query.Get("name"); name != "" {
		t, err := s.find(r, name)
		if err != nil {
			reply(func(*http.Request) (any, error) { return nil, err })(w, r)
			return
		}
		e.only = t
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	_ = e.ctl.Flush() // so that the client knows that it follows
	err := e.run(!query.Has("now"))
	if errors.Is(err, errSlow) || errors.Is(err, os.ErrDeadlineExceeded) { // others have left
		s.log.Info("a reader of events was dropped", "reason", err)
	}
	_ = e.ctl.SetWriteDeadline(time.Time{}) // for the next request
}

// eventStream is one reader of events.
type eventStream struct {
	server   *Server
	request  *http.Request
	only     *peer.Transfer // nil for all
	ctl      *http.ResponseController
	lines    *json.Encoder
	since    map[string]time.Time // when the reader was told of a transfer's phase, at first
	sessions map[string]sessions  // by id of the transfer
}

// sessions are how many there were of a transfer when the reader was told last.
type sessions struct {
	began        time.Time // of the transfer
	joined, left int64
}

// errSlow is why a reader is dropped.
var errSlow = errors.New("it did not read the events as fast as they came")

// run sends events until the reader leaves, the daemon ends, or the reader is too slow, which is an
// error.
func (e *eventStream) run(follow bool) error {
	f := e.server.cfg.Node.Follow()
	defer f.Close()
	e.since = map[string]time.Time{}
	for _, t := range e.server.cfg.Node.Transfers() {
		ev := t.Event()
		e.since[ev.Content] = ev.Time
		if e.shows(&ev) {
			if err := e.send(NodeEvent{Event: ev}); err != nil {
				return err
			}
		}
	}
	_ = e.countSessions(nil) // nothing is sent yet
	if !follow {
		return e.end("")
	}
	tick := time.NewTicker(peersEvery)
	defer tick.Stop()
	sent := time.Now()
	for {
		var err error
		select {
		case ev, ok := <-f.Events:
			switch {
			case !ok && f.Behind():
				return errors.Join(errSlow, e.end("the daemon dropped this reader of events: "+errSlow.Error()))
			case !ok:
				return e.end(errExited.Error())
			case !ev.Time.After(e.since[ev.Content]) || !e.shows(&ev):
				continue
			}
			err = e.send(NodeEvent{Event: ev})
		case <-tick.C:
			told := false
			err = e.countSessions(func(ev NodeEvent) error {
				told = true
				return e.send(ev)
			})
			if !told && err == nil && time.Since(sent) < aliveEvery {
				continue
			}
			if !told && err == nil {
				err = e.send(NodeEvent{Event: peer.Event{Time: time.Now(), Kind: eventAlive}})
			}
		case <-e.server.draining:
			return e.end(errExited.Error())
		case <-e.request.Context().Done():
			return nil
		}
		if err != nil {
			return err
		}
		sent = time.Now()
	}
}

// shows reports whether an event is for the reader.
func (e *eventStream) shows(ev *peer.Event) bool {
	if ev.Content == "" {
		return e.only == nil
	}
	if e.only != nil {
		return ev.Content == e.only.ID.String()
	}
	if caller(e.request) == nil {
		return true
	}
	_, err := e.server.find(e.request, ev.Content)
	return err == nil
}

// countSessions calls tell, unless it is nil, for each transfer whose peers are not those that the
// reader was told of.
func (e *eventStream) countSessions(tell func(NodeEvent) error) error {
	for _, t := range e.server.cfg.Node.Transfers() {
		totals, began := t.Totals()
		ev := t.Event()
		last := e.sessions[ev.Content]
		if !last.began.Equal(began) {
			last = sessions{began: began}
		}
		now := sessions{began, totals.Joined, totals.Left}
		if now == last || !e.shows(&ev) {
			continue
		}
		e.sessions[ev.Content] = now
		if tell == nil {
			continue
		}
		ev.Kind = eventPeers
		err := tell(NodeEvent{ev, now.joined - now.left, now.joined - last.joined, now.left - last.left})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *eventStream) end(why string) error {
	return e.send(NodeEvent{Event: peer.Event{Time: time.Now(), Kind: eventEnd, Text: why}})
}

// send sends an event, which takes no longer than eventTimeout.
func (e *eventStream) send(ev NodeEvent) error {
	_ = e.ctl.SetWriteDeadline(time.Now().Add(e.server.eventTimeout))
	if err := e.lines.Encode(ev); err != nil {
		return err
	}
	return e.ctl.Flush()
}
