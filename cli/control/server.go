package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"slices"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

// maxRequest bounds a request, which may have an info dictionary, in bytes.
const maxRequest = 1<<20 + 2*proto.MaxTorrent

// Config configures a Server.
type Config struct {
	Node *peer.Node
	// Feeds are the feeds of the node.
	Feeds *feed.Feeds
	// Data is the node's data directory.
	Data string
	// BTTrackers are announce URLs for the links of seeds that are offered to
	// BitTorrent clients, and BTPeers has the addresses at which the node serves them.
	BTTrackers []string
	BTPeers    []netip.AddrPort
	// Limits has the limits of the node in force.
	Limits *limit.Policy
	// Version is the version of the program.
	Version string
	// Command is [Info.Command].
	Command bool
}

// Server answers the calls of clients, each in a goroutine.
type Server struct {
	cfg  Config
	mux  *http.ServeMux
	http *http.Server
}

// NewServer returns a server. [Server.Serve] runs it.
func NewServer(cfg Config) *Server {
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	for pattern, c := range map[string]call{
		"GET /v1/node":         s.node,
		"GET /v1/transfers":    s.transfers,
		"GET /v1/transfer":     s.transfer,
		"GET /v1/limit":        s.limits,
		"POST /v1/limit":       request(s.setLimits),
		"POST /v1/seed":        request(s.seed),
		"POST /v1/get":         request(s.get),
		"POST /v1/pipe":        request(s.seedPipe),
		"POST /v1/content":     request(s.content),
		"GET /v1/feeds":        s.feeds,
		"POST /v1/feed/new":    request(s.newFeed),
		"POST /v1/feed/post":   request(s.post),
		"POST /v1/feed/follow": request(s.follow),
		"POST /v1/feed/remove": request(s.removeFeed),
		"POST /v1/stop":        s.named(stop),
		"POST /v1/remove":      s.named(s.remove),
		"POST /v1/verify":      s.named(s.verify),
		"POST /v1/export":      s.named(export),
		"POST /v1/describe":    s.linked(s.describe),
		"POST /v1/fleet":       s.linked(s.fleet),
		"POST /v1/topology":    s.linked(s.topology),
	} {
		s.mux.HandleFunc(pattern, c.serve)
	}
	s.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	s.http = &http.Server{Handler: guard(s.mux), ConnContext: withCaller, ReadHeaderTimeout: 10 * time.Second}
	return s
}

// Handler answers clients that may make all calls.
func (s *Server) Handler() http.Handler { return s.mux }

// Serve answers the clients of ln, and blocks until [Server.Shutdown].
func (s *Server) Serve(ln net.Listener) error {
	if err := s.http.Serve(&callers{ln, quota.NewShared[uint32](maxUserConns)}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown closes the socket and waits for running calls. When ctx ends it closes the connections of the remaining ones.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err == nil {
		return nil
	}
	return s.http.Close()
}

// call answers a request with a value for JSON, or with a [streamer].
type call func(*http.Request) (any, error)

// streamer is an answer that takes long.
type streamer interface {
	stream(w http.ResponseWriter, r *http.Request)
}

func (c call) serve(w http.ResponseWriter, r *http.Request) {
	v, err := c(r)
	if s, ok := v.(streamer); ok && err == nil {
		s.stream(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		e := newError(err)
		w.WriteHeader(e.httpStatus())
		v = e
	}
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has left
}

// request returns a call with a request of type T. Fields that it does not know, which a later version may send, are
// ignored. The body of the request is what follows.
func request[T any](answer func(*http.Request, T) (any, error)) call {
	return func(r *http.Request) (any, error) {
		var req T
		in := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxRequest))
		err := in.Decode(&req)
		if b, ok := r.Body.(*userBody); ok {
			b.release()
		}
		switch {
		case errors.Is(err, errBodies):
			return nil, err
		case err != nil:
			return nil, &Error{CodeRequest, fmt.Sprintf("the daemon cannot read the request (%v): "+
				"restart it if its version differs from mob", err)}
		}
		r.Body = io.NopCloser(io.MultiReader(in.Buffered(), r.Body))
		return answer(r, req)
	}
}

// named returns a call about a transfer of the caller.
func (s *Server) named(answer func(*http.Request, *peer.Transfer, NameRequest) (any, error)) call {
	return request(func(r *http.Request, req NameRequest) (any, error) {
		t, err := s.find(r, req.Name)
		if err != nil {
			return nil, err
		}
		return answer(r, t, req)
	})
}

// linked returns a call about the content of a link. It adds the trackers of the node.
func (s *Server) linked(answer func(context.Context, *proto.Link) (any, error)) call {
	return request(func(r *http.Request, req LinkRequest) (any, error) {
		link, err := proto.ParseLink(req.Link)
		if err != nil {
			return nil, err
		}
		link.Trackers = append(link.Trackers, s.cfg.Node.Trackers()...)
		return answer(r.Context(), link)
	})
}

func (s *Server) node(*http.Request) (any, error) {
	n := s.cfg.Node
	return Info{
		ID:       n.Host().ID().String(),
		Cluster:  n.Cluster(),
		Host:     n.HostName(),
		Addrs:    append([]ma.Multiaddr{}, n.Addrs()...),
		Trackers: append([]ma.Multiaddr{}, n.Trackers()...),
		Data:     s.cfg.Data,
		Version:  s.cfg.Version,
		PID:      os.Getpid(),
		UID:      os.Geteuid(),
		Command:  s.cfg.Command,
		Network:  newNetwork(n.Membership()),
	}, nil
}

func (s *Server) transfers(r *http.Request) (any, error) {
	all := slices.DeleteFunc(s.cfg.Node.Transfers(), func(t *peer.Transfer) bool { return !t.For(caller(r)) })
	return peer.Look(all...), nil
}

func (s *Server) transfer(r *http.Request) (any, error) {
	t, err := s.find(r, r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Has("visit") {
		t.Visit()
	}
	return peer.Look(t)[0], nil
}

func stop(_ *http.Request, t *peer.Transfer, _ NameRequest) (any, error) { return struct{}{}, t.Stop() }

func (s *Server) remove(_ *http.Request, t *peer.Transfer, req NameRequest) (any, error) {
	st := t.Status()
	left, err := s.cfg.Node.Remove(t, req.Content)
	return Removal{st, left}, err
}
