package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// eventEvery is the time between two events of a stream.
const eventEvery = 500 * time.Millisecond

// task is a long call: it returns its last event. now is what to tell of it in
// the meantime; it is called from another goroutine.
type task struct {
	run func(context.Context) (Event, error)
	now func() Event
}

// stream makes a handler of a call that takes long. limit bounds its request, in bytes.
func stream(limit int64, prepare func(*http.Request) (task, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		t, err := prepare(r)
		if err != nil {
			reply(func(*http.Request) (any, error) { return nil, err })(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		follow(r.Context(), t, func(ev Event) {
			_ = json.NewEncoder(w).Encode(ev) // when the client is gone, so is ctx
			_ = http.NewResponseController(w).Flush()
		})
	}
}

// follow runs a task and tells of it until it ends.
func follow(ctx context.Context, t task, tell func(Event)) {
	type result struct {
		ev  Event
		err error
	}
	done := make(chan result, 1)
	go func() {
		ev, err := t.run(ctx)
		done <- result{ev, err}
	}()
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			tell(t.now())
		case r := <-done:
			r.ev.Done = r.err == nil
			if r.err != nil {
				r.ev.Error = newError(r.err)
			}
			tell(r.ev)
			return
		}
	}
}

func (s *Server) seed(r *http.Request) (task, error) {
	req, err := read[SeedRequest](r)
	if err == nil {
		err = absolute(req.Path)
	}
	if err != nil {
		return task{}, err
	}
	opt := peer.SeedOptions{PieceLength: req.PieceLength, Coded: req.Coded, Torrent: req.Torrent, TorrentPeers: s.cfg.BTPeers}
	if opt.Strategy, err = proto.ParseStrategy(req.Strategy); err != nil {
		return task{}, &Error{CodeRequest, err.Error()}
	}
	for _, url := range append(req.BTTrackers, s.cfg.BTTrackers...) {
		if err := proto.CheckAnnounce(url); err != nil {
			return task{}, &Error{CodeRequest, err.Error()}
		}
		if !slices.Contains(opt.Announce, url) {
			opt.Announce = append(opt.Announce, url)
		}
	}
	for _, text := range req.Trackers {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return task{}, &Error{CodeRequest, err.Error()}
		}
		opt.Trackers = append(opt.Trackers, a)
	}
	var progress hashing
	opt.Progress = progress.tell
	return task{
		now: progress.event,
		run: func(ctx context.Context) (Event, error) {
			t, err := s.cfg.Node.Seed(ctx, req.Path, opt)
			if err == nil {
				err = t.Wait(ctx)
			}
			if err != nil {
				return Event{}, err
			}
			st := t.Status()
			return Event{Status: &st}, nil
		},
	}, nil
}

// hashing is how far the hashing of a content is.
type hashing struct{ done, total atomic.Int64 }

func (h *hashing) tell(done, total int64) {
	h.done.Store(done)
	h.total.Store(total)
}

func (h *hashing) event() Event { return Event{Hashed: h.done.Load(), Total: h.total.Load()} }

func (s *Server) export(r *http.Request) (task, error) {
	req, err := read[ExportRequest](r)
	if err != nil {
		return task{}, err
	}
	t, err := s.cfg.Node.Transfer(req.Name)
	if err != nil {
		return task{}, err
	}
	var progress hashing
	return task{
		now: progress.event,
		run: func(ctx context.Context) (Event, error) {
			info, err := t.MakeTorrent(ctx, progress.tell)
			st := t.Progress()
			return Event{Status: &st, Torrent: info}, err
		},
	}, nil
}

func (s *Server) get(r *http.Request) (task, error) {
	req, err := read[GetRequest](r)
	if err == nil {
		err = absolute(req.Path)
	}
	if err != nil {
		return task{}, err
	}
	link, err := proto.ParseLink(req.Link)
	if err != nil {
		return task{}, err
	}
	t, err := s.cfg.Node.Get(link, req.Path, peer.GetOptions{Reuse: req.Reuse, Torrent: req.Torrent})
	if err != nil {
		return task{}, err
	}
	return task{
		now: func() Event {
			st := t.Progress()
			return Event{Status: &st}
		},
		run: func(ctx context.Context) (Event, error) {
			err := t.Wait(ctx)
			st := t.Status()
			return Event{Status: &st}, err
		},
	}, nil
}

func (s *Server) describe(r *http.Request) (task, error) {
	link, err := s.readLink(r)
	if err != nil {
		return task{}, err
	}
	var waiting atomic.Value
	waiting.Store("")
	return task{
		now: func() Event { return Event{Waiting: waiting.Load().(string)} },
		run: func(ctx context.Context) (Event, error) {
			if t, err := s.cfg.Node.Transfer(link.String()); err == nil {
				if ev, err := described(link, t.Description()); err == nil {
					return ev, nil
				}
			}
			d, err := s.cfg.Node.Describe(ctx, link, func(what string) { waiting.Store(what) })
			if err != nil {
				return Event{}, err
			}
			return described(link, d)
		},
	}, nil
}

// errUnknown is why what describes a content has to be fetched.
var errUnknown = errors.New("it is not there yet")

// described is what describes the content of a link: its manifest, or the info
// dictionary if the link names none.
func described(link *proto.Link, d *metadata.Description) (Event, error) {
	if link.Manifest.Defined() {
		b, err := d.EncodedManifest()
		return Event{Manifest: b}, err
	}
	if info := d.Torrent(); info != nil {
		return Event{Torrent: info}, nil
	}
	return Event{}, errUnknown
}
