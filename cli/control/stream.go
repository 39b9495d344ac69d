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

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

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

// stream returns the handler of a long call. limit bounds its request, in bytes.
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
			_ = json.NewEncoder(w).Encode(ev) // an error means that the client has left, and ctx ends
			_ = http.NewResponseController(w).Flush()
		})
	}
}

// follow runs a task and sends its events until it ends.
func follow(ctx context.Context, t task, send func(Event)) {
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
			send(t.progress())
		case r := <-done:
			r.ev.Done = r.err == nil
			if r.err != nil {
				r.ev.Error = newError(r.err)
			}
			send(r.ev)
			return
		}
	}
}

func (s *Server) seed(r *http.Request) (task, error) {
	req, err := read[SeedRequest](r)
	if err != nil {
		return task{}, err
	}
	if err := checkRequested(r, req.Path); err != nil {
		return task{}, err
	}
	opt, err := s.seedOptions(req)
	if err != nil {
		return task{}, err
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
			if req.Torrent && len(opt.Announce) == 0 {
				opt.Announce = s.announceURLs(ctx, opt.Trackers)
			}
			t, err := s.cfg.Node.Seed(ctx, req.Path, opt)
			if err == nil {
				err = t.Wait(ctx)
			}
			var closed *store.ClosedError
			if errors.As(err, &closed) {
				err = fmt.Errorf("%w: `mob seed --skip-unreadable` leaves them out", err)
			}
			if err != nil {
				return Event{}, err
			}
			st := t.Status()
			return Event{Status: &st, Skipped: skipped}, nil
		},
	}, nil
}

// announceURLs asks the trackers of a link for their announce URLs. Trackers without a valid answer are
// ignored.
func (s *Server) announceURLs(ctx context.Context, trackers []ma.Multiaddr) []string {
	infos, err := libpeer.AddrInfosFromP2pAddrs(slices.Concat(trackers, s.cfg.Node.Trackers())...)
	if err != nil || len(infos) == 0 {
		return nil
	}
	client := tracker.NewClient(s.cfg.Node.Host(), infos, tracker.ClientConfig{})
	defer client.Close()
	urls, err := client.AnnounceURLs(ctx)
	if err != nil {
		return nil // the seed says that its link names no tracker for BitTorrent clients
	}
	return urls
}

// seedOptions checks a request. Its errors have [CodeRequest].
func (s *Server) seedOptions(req SeedRequest) (opt peer.SeedOptions, err error) {
	opt = req.SeedOptions
	opt.TorrentPeers, opt.Announce = s.cfg.BTPeers, nil
	opt.Strategy, err = proto.ParseStrategy(req.Strategy)
	if err != nil {
		return opt, &Error{CodeRequest, err.Error()}
	}
	if opt.Plan, err = readPlan(req.Plan); err != nil {
		return opt, &Error{CodeRequest, err.Error()}
	}
	for _, url := range slices.Concat(req.Announce, s.cfg.BTTrackers) {
		if err := proto.CheckAnnounce(url); err != nil {
			return opt, &Error{CodeRequest, err.Error()}
		}
		if !slices.Contains(opt.Announce, url) {
			opt.Announce = append(opt.Announce, url)
		}
	}
	for _, text := range req.Trackers {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return opt, &Error{CodeRequest, err.Error()}
		}
		opt.Trackers = append(opt.Trackers, a)
	}
	return opt, nil
}

// readPlan returns the plan that is encoded in a request, nil if there is none.
func readPlan(b []byte) (*plan.Plan, error) {
	if b == nil {
		return nil, nil
	}
	document, err := proto.DecodePlan(proto.PlanCID(b), b)
	if err != nil {
		return nil, err
	}
	return plan.Read(document)
}

// hashProgress is the progress of hashing, in bytes.
type hashProgress struct{ done, total atomic.Int64 }

func (p *hashProgress) set(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

func (p *hashProgress) event() Event { return Event{Hashed: p.done.Load(), Total: p.total.Load()} }

// errNoTorrent and errTorrentLater report that a node has no info dictionary of the content.
var (
	errNoTorrent    = errors.New("the content was not seeded for BitTorrent clients: seed it again with --torrent")
	errTorrentLater = errors.New("no member has sent the info dictionary of the content yet: try again later, or seed the content again with --torrent")
)

// torrentWait is the time an export waits for the info dictionary, which members send beside the content.
const torrentWait = 5 * time.Second

// export replies with a single event, which older clients read as the only one of a stream.
func (s *Server) export(r *http.Request) (any, error) {
	req, err := read[ExportRequest](r)
	if err != nil {
		return nil, err
	}
	t, err := s.find(r, req.Name)
	if err != nil {
		return nil, err
	}
	if t.InfoHash().IsZero() {
		return nil, errNoTorrent
	}
	for end := time.Now().Add(torrentWait); t.Torrent() == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) || r.Context().Err() != nil {
			return nil, errTorrentLater
		}
	}
	st := t.Progress()
	return Event{Status: &st, Torrent: t.Torrent(), Done: true}, nil
}

func (s *Server) get(r *http.Request) (task, error) {
	req, err := read[GetRequest](r)
	if err == nil {
		err = checkRequested(r, req.Path)
	}
	if err != nil {
		return task{}, err
	}
	link, err := proto.ParseLink(req.Link)
	if err != nil {
		return task{}, err
	}
	req.User = caller(r)
	t, err := s.cfg.Node.Get(link, req.Path, req.GetOptions)
	if err != nil {
		return task{}, err
	}
	return task{
		progress: func() Event {
			st := t.Progress()
			return Event{Status: &st}
		},
		run: func(ctx context.Context) (Event, error) {
			err := t.Wait(ctx)
			st := t.Status()
			return Event{Status: &st, Place: placeOf(req.Path)}, err
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
		progress: func() Event { return Event{Waiting: waiting.Load().(string)} },
		run: func(ctx context.Context) (Event, error) {
			if t, err := s.cfg.Node.Transfer(link.String()); err == nil {
				if ev, err := descriptionEvent(link, t.Description()); err == nil {
					return ev, nil
				}
			}
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
	if link.Manifest.Defined() {
		if b, err := d.EncodedManifest(); err == nil || !d.Plain() {
			return Event{Manifest: b}, err
		}
	}
	if info := d.Torrent(); info != nil {
		return Event{Torrent: info}, nil
	}
	return Event{}, errNotDescribed
}
