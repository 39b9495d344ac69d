package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

// maxRequest bounds a request, in bytes, maxSeed one that has a plan, and maxGet one that has an info
// dictionary.
const (
	maxRequest = 1 << 20
	maxSeed    = maxRequest + 2*proto.MaxPlan
	maxGet     = maxRequest + 2*proto.MaxTorrent
)

// Config configures a Server.
type Config struct {
	Node *peer.Node
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
}

// Server answers the calls of clients, each in a goroutine.
type Server struct {
	cfg  Config
	mux  *http.ServeMux
	http *http.Server
}

// NewServer returns a server. [Server.Serve] runs it.
func NewServer(cfg Config) *Server {
	mux := http.NewServeMux()
	s := &Server{cfg: cfg, mux: mux}
	mux.HandleFunc("GET /v1/node", reply(s.node))
	mux.HandleFunc("GET /v1/transfers", reply(s.transfers))
	mux.HandleFunc("GET /v1/transfer", reply(s.transfer))
	mux.HandleFunc("POST /v1/stop", reply(s.stop))
	mux.HandleFunc("POST /v1/remove", reply(s.remove))
	mux.HandleFunc("POST /v1/fleet", reply(s.fleet))
	mux.HandleFunc("POST /v1/topology", reply(s.topology))
	mux.HandleFunc("POST /v1/seed", stream(maxSeed, s.seed))
	mux.HandleFunc("POST /v1/export", reply(s.export))
	mux.HandleFunc("POST /v1/verify", stream(maxRequest, s.verify))
	mux.HandleFunc("POST /v1/get", stream(maxGet, s.get))
	mux.HandleFunc("POST /v1/describe", stream(maxRequest, s.describe))
	mux.HandleFunc("GET /v1/limit", reply(s.limits))
	mux.HandleFunc("POST /v1/limit", reply(s.setLimits))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	s.http = &http.Server{Handler: guard(mux), ConnContext: withCaller, ReadHeaderTimeout: 10 * time.Second}
	return s
}

// Handler answers clients that may make all calls.
func (s *Server) Handler() http.Handler { return s.mux }

// Serve answers the clients of ln, and blocks until [Server.Shutdown].
func (s *Server) Serve(ln net.Listener) error {
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown closes the socket and waits for running calls. When ctx ends it
// closes the connections of the remaining ones.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err == nil {
		return nil
	}
	return s.http.Close()
}

// reply returns the handler of a call with one answer.
func reply(call func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		v, err := call(r)
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			e := newError(err)
			w.WriteHeader(httpStatus(e.Code))
			v = e
		}
		_ = json.NewEncoder(w).Encode(v) // an error means that the client has left
	}
}

func httpStatus(c Code) int {
	switch c {
	case CodeUnknown:
		return http.StatusNotFound
	case CodeDenied:
		return http.StatusForbidden
	case CodeRequest:
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

// read decodes the body of a request. It ignores fields that it does not know, which a
// later version may send.
func read[T any](r *http.Request) (T, error) {
	var v T
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		return v, &Error{CodeRequest, fmt.Sprintf("the daemon cannot read the request (%v): "+
			"restart it if its version differs from mob", err)}
	}
	return v, nil
}

func (s *Server) node(*http.Request) (any, error) {
	n := s.cfg.Node
	return Info{
		ID:       n.Host().ID().String(),
		Cluster:  n.Cluster(),
		Host:     n.HostName(),
		Addrs:    texts(n.Addrs()),
		Trackers: texts(s.cfg.Node.Trackers()),
		Data:     s.cfg.Data,
		Version:  s.cfg.Version,
		PID:      os.Getpid(),
		UID:      os.Geteuid(),
		Network:  newNetwork(n.Membership()),
	}, nil
}

func (s *Server) transfers(r *http.Request) (any, error) {
	list := []peer.Status{}
	all := s.cfg.Node.Transfers()
	peer.Look(all...)
	for _, t := range all {
		if t.For(caller(r)) {
			list = append(list, t.Status())
		}
	}
	return list, nil
}

func (s *Server) transfer(r *http.Request) (any, error) {
	t, err := s.find(r, r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Has("visit") {
		t.Visit()
	}
	peer.Look(t)
	return t.Status(), nil
}

func (s *Server) stop(r *http.Request) (any, error) {
	req, err := read[NameRequest](r)
	if err != nil {
		return nil, err
	}
	t, err := s.find(r, req.Name)
	if err != nil {
		return nil, err
	}
	return struct{}{}, t.Stop()
}

func (s *Server) remove(r *http.Request) (any, error) {
	req, err := read[NameRequest](r)
	if err != nil {
		return nil, err
	}
	t, err := s.find(r, req.Name)
	if err != nil {
		return nil, err
	}
	done := Removal{Status: t.Status()}
	left, err := s.cfg.Node.Remove(t, req.Content)
	for _, l := range left {
		done.Left = append(done.Left, Left(l))
	}
	return done, err
}

func (s *Server) fleet(r *http.Request) (any, error) {
	link, err := s.readLink(r)
	if err != nil {
		return nil, err
	}
	return AskFleet(r.Context(), s.cfg.Node.Host(), link)
}

func (s *Server) topology(r *http.Request) (any, error) {
	link, err := s.readLink(r)
	if err != nil {
		return nil, err
	}
	return AskTopology(r.Context(), s.cfg.Node.Host(), link)
}

// readLink reads a link and adds the trackers of the node.
func (s *Server) readLink(r *http.Request) (*proto.Link, error) {
	req, err := read[LinkRequest](r)
	if err != nil {
		return nil, err
	}
	link, err := proto.ParseLink(req.Link)
	if err != nil {
		return nil, err
	}
	link.Trackers = append(link.Trackers, s.cfg.Node.Trackers()...)
	return link, nil
}

func texts(addrs []ma.Multiaddr) []string {
	out := []string{}
	for _, a := range addrs {
		out = append(out, a.String())
	}
	return out
}

// checkAbsolute rejects a relative path, which the daemon and its client would
// resolve differently.
func checkAbsolute(path string) error {
	if filepath.IsAbs(path) {
		return nil
	}
	return &Error{CodeRequest, fmt.Sprintf("the path %q is not absolute", path)}
}
