package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// eventEvery is the time between two events of a stream.
const eventEvery = 500 * time.Millisecond

// task is a long call.
type task struct {
	// run blocks and returns the last event. It returns soon after the client has
	// left, which ends its context.
	run func(context.Context) (Event, error)
	// progress returns an event for now. It does not block, and is called while run
	// runs.
	progress func() Event
}

// stream runs the task and sends its events until it ends.
func (t task) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1 has it
	send := func(ev Event) {
		_ = json.NewEncoder(w).Encode(ev) // an error means that the client has left, and the context ends
		_ = http.NewResponseController(w).Flush()
	}
	done := make(chan Event, 1)
	go func() {
		ev, err := t.run(r.Context())
		ev.Done = err == nil
		if err != nil {
			ev.Error = newError(err)
		}
		done <- ev
	}()
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			send(t.progress())
		case ev := <-done:
			send(ev)
			return
		}
	}
}

// seed serves a file or directory.
func (s *Server) seed(r *http.Request, req SeedRequest) (any, error) {
	if err := checkRequested(r, req.Path); err != nil {
		return nil, err
	}
	return s.seedWith(r, req, func(ctx context.Context, opt peer.SeedOptions) (*peer.Transfer, error) {
		if req.Torrent && len(opt.Announce) == 0 {
			// Without an answer the link names no tracker for BitTorrent clients, which the command notes.
			all := slices.Concat(opt.Trackers, s.cfg.Node.Trackers())
			opt.Announce, _ = askTrackers(s, all, func(c *tracker.Client) ([]string, error) { return c.AnnounceURLs(ctx) })
		}
		t, err := s.cfg.Node.Seed(ctx, req.Path, opt)
		if err == nil {
			err = t.Wait(ctx)
		}
		if _, closed := errors.AsType[*store.ClosedError](err); closed {
			err = fmt.Errorf("%w: `mob seed --skip-unreadable` leaves them out", err)
		}
		return t, err
	})
}

// seedWith returns a task that seeds by start, which blocks until the content is served.
func (s *Server) seedWith(
	r *http.Request, req SeedRequest, start func(context.Context, peer.SeedOptions) (*peer.Transfer, error),
) (any, error) {
	opt, err := s.seedOptions(req)
	if err != nil {
		return nil, err
	}
	var p hashProgress
	var skipped Skipped
	opt.Progress, opt.User = p.set, caller(r)
	if req.SkipUnreadable {
		opt.SkipUnreadable = skipped.add
	}
	return task{
		progress: p.event,
		run: func(ctx context.Context) (Event, error) {
			t, err := start(ctx, opt)
			if err != nil {
				return Event{}, err
			}
			return Event{Status: new(t.Status()), Skipped: skipped}, nil
		},
	}, nil
}

// seedOptions checks a request. Its errors have [CodeRequest].
func (s *Server) seedOptions(req SeedRequest) (opt peer.SeedOptions, err error) {
	defer func() {
		if err != nil {
			err = &Error{CodeRequest, err.Error()}
		}
	}()
	opt = req.SeedOptions
	opt.TorrentPeers, opt.Announce = s.cfg.BTPeers, nil
	if opt.Strategy, err = proto.ParseStrategy(req.Strategy); err != nil {
		return opt, err
	}
	if req.Plan != nil {
		document, err := proto.DecodePlan(proto.PlanCID(req.Plan), req.Plan)
		if err != nil {
			return opt, err
		}
		if opt.Plan, err = plan.Read(document); err != nil {
			return opt, err
		}
	}
	for _, url := range slices.Concat(req.Announce, s.cfg.BTTrackers) {
		if err := proto.CheckAnnounce(url); err != nil {
			return opt, err
		}
		if !slices.Contains(opt.Announce, url) {
			opt.Announce = append(opt.Announce, url)
		}
	}
	return opt, nil
}

// hashProgress is the progress of hashing, in bytes.
type hashProgress struct{ done, total atomic.Int64 }

func (p *hashProgress) set(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

func (p *hashProgress) event() Event { return Event{Hashed: p.done.Load(), Total: p.total.Load()} }

func (s *Server) verify(_ *http.Request, t *peer.Transfer, req NameRequest) (any, error) {
	var p hashProgress
	var found atomic.Pointer[peer.Verification]
	return task{
		progress: func() Event {
			if st := t.Progress(); found.Load() != nil || st.Phase == peer.Checking {
				return Event{Verification: found.Load(), Status: &st}
			}
			return p.event()
		},
		run: func(ctx context.Context) (Event, error) {
			v, err := t.Verify(ctx, p.set)
			if err == nil && req.Repair && v.Unreadable.Count == 0 {
				found.Store(v)
				if err = s.repair(ctx, t); err == nil {
					repaired := *v
					repaired.Left, err = t.Differences(ctx)
					v = &repaired
				}
			}
			return Event{Verification: v, Status: new(t.Status())}, err
		},
	}, nil
}

// repair waits until the content is complete. A seed is never written to.
func (s *Server) repair(ctx context.Context, t *peer.Transfer) error {
	st := t.Progress()
	if st.Seed {
		return nil
	}
	opt := peer.GetOptions{User: t.User(), Select: t.Selected()}
	if _, err := s.cfg.Node.Get(t.Link(), st.Root, opt); err != nil { // it may be stopped
		return err
	}
	if err := t.Wait(ctx); err != nil {
		return err
	}
	return t.Flush(ctx)
}

// errNoTorrent and errTorrentLater report that a node has no info dictionary of the content.
var (
	errNoTorrent    = errors.New("the content was not seeded for BitTorrent clients: seed it again with --torrent")
	errTorrentLater = errors.New("no member has sent the info dictionary of the content yet: try again later, or seed the content again with --torrent")
)

// torrentWait is the time an export waits for the info dictionary, which members send beside the content.
const torrentWait = 5 * time.Second

// export replies with a single event, which older clients read as the only one of a stream.
func export(r *http.Request, t *peer.Transfer, _ NameRequest) (any, error) {
	if t.Link().InfoHash.IsZero() {
		return nil, errNoTorrent
	}
	for end := time.Now().Add(torrentWait); t.Description().Torrent() == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) || r.Context().Err() != nil {
			return nil, errTorrentLater
		}
	}
	return Event{Status: new(t.Progress()), Torrent: t.Description().Torrent(), Done: true}, nil
}

// waitsToStart names the cause of a get that has not started or joined a transfer yet.
const waitsToStart = "waiting for another command, or for the disk (`dmesg`, `mount`)"

func (s *Server) get(r *http.Request, req GetRequest) (any, error) {
	if err := checkRequested(r, req.Path); err != nil {
		return nil, err
	}
	link, err := proto.ParseLink(req.Link)
	if err != nil {
		return nil, err
	}
	req.User = caller(r)
	// Until the transfer is known, as another call may remove it, or its files are to be closed before it starts again.
	early := &peer.Status{Name: link.Name, Phase: peer.Checking, Length: -1, SwarmStatus: peer.SwarmStatus{Waiting: waitsToStart}}
	var started atomic.Pointer[peer.Transfer]
	return task{
		progress: func() Event {
			if t := started.Load(); t != nil {
				return Event{Status: new(t.Progress())}
			}
			return Event{Status: early}
		},
		run: func(ctx context.Context) (Event, error) {
			t, err := s.cfg.Node.Get(link, req.Path, req.GetOptions)
			if err != nil {
				return Event{}, err
			}
			if st := t.Status(); ctx.Err() != nil && !st.Seed && st.Phase != peer.Whole {
				return Event{}, t.Stop() // the client may have tried to stop it before it was known
			}
			started.Store(t)
			err = t.Wait(ctx)
			if err == nil && req.Flush {
				err = t.Flush(ctx)
			}
			return Event{Status: new(t.Status()), Place: placeOf(req.User, req.Path)}, err
		},
	}, nil
}

func (s *Server) describe(_ context.Context, link *proto.Link) (any, error) {
	var waiting atomic.Value
	waiting.Store("")
	return task{
		progress: func() Event { return Event{Waiting: waiting.Load().(string)} },
		run: func(ctx context.Context) (Event, error) {
			d, err := s.cfg.Node.Describe(ctx, link, func(what string) { waiting.Store(what) })
			if err != nil {
				return Event{}, err
			}
			return descriptionEvent(link, d)
		},
	}, nil
}

// errNotDescribed reports that a node has neither manifest nor info dictionary yet.
var errNotDescribed = errors.New("the node has neither manifest nor info dictionary yet")

// descriptionEvent returns the manifest of a link, or the info dictionary if the
// link names no manifest or the content is verified by the torrent.
func descriptionEvent(link *proto.Link, d *metadata.Description) (Event, error) {
	if b := d.EncodedManifest(); b != nil && link.Manifest.Defined() {
		return Event{Manifest: b}, nil
	}
	if info := d.Torrent(); info != nil {
		return Event{Torrent: info}, nil
	}
	return Event{}, errNotDescribed
}
