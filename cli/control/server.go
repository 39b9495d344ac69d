package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// maxRequest bounds what a client may send in one request, in bytes, and maxGet what
// may come with an info dictionary in it.
const (
	maxRequest = 1 << 20
	maxGet     = maxRequest + 2*proto.MaxTorrent
)

// Config says what a Server serves.
type Config struct {
	Node *peer.Node
	// Data is the node's data folder.
	Data string
	// Trackers are the node's own.
	Trackers []ma.Multiaddr
	// BTTrackers are the node's own for BitTorrent clients, URLs, and BTPeers where it
	// serves such clients itself.
	BTTrackers []string
	BTPeers    []netip.AddrPort
	// Version is the program's.
	Version string
}

// Server answers the clients of a node.
type Server struct {
	cfg  Config
	http *http.Server
}

// NewServer makes a server; Serve runs it.
func NewServer(cfg Config) *Server {
	s := &Server{cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/node", reply(s.node))
	mux.HandleFunc("GET /v1/transfers", reply(s.transfers))
	mux.HandleFunc("GET /v1/transfer", reply(s.transfer))
	mux.HandleFunc("POST /v1/stop", reply(s.stop))
	mux.HandleFunc("POST /v1/remove", reply(s.remove))
	mux.HandleFunc("POST /v1/fleet", reply(s.fleet))
	mux.HandleFunc("POST /v1/seed", stream(maxRequest, s.seed))
	mux.HandleFunc("POST /v1/export", stream(maxRequest, s.export))
	mux.HandleFunc("POST /v1/get", stream(maxGet, s.get))
	mux.HandleFunc("POST /v1/describe", stream(maxRequest, s.describe))
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return s
}

// Serve answers the clients of ln until Shutdown.
func (s *Server) Serve(ln net.Listener) error {
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown closes the socket, waits for the calls that are under way to end by
// themselves, and cuts off those that have not when ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err == nil {
		return nil
	}
	return s.http.Close()
}

// reply makes a handler of a call with one answer.
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
		_ = json.NewEncoder(w).Encode(v) // the client is gone, or reads it
	}
}

func httpStatus(c Code) int {
	switch c {
	case CodeUnknown:
		return http.StatusNotFound
	case CodeRequest:
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

// read decodes the body of a request.
func read[T any](r *http.Request) (T, error) {
	var v T
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, &Error{CodeRequest, "the request cannot be read (" + err.Error() + "): are mob and mobd of one version?"}
	}
	return v, nil
}

func (s *Server) node(*http.Request) (any, error) {
	n := s.cfg.Node
	return Info{ID: n.Host().ID().String(), Cluster: n.Cluster(), Addrs: texts(n.Addrs()), Trackers: texts(s.cfg.Trackers),
		Data: s.cfg.Data, Version: s.cfg.Version, PID: os.Getpid()}, nil
}

func (s *Server) transfers(*http.Request) (any, error) {
	list := []peer.Status{}
	for _, t := range s.cfg.Node.Transfers() {
		list = append(list, t.Status())
	}
	return list, nil
}

func (s *Server) transfer(r *http.Request) (any, error) {
	t, err := s.cfg.Node.Transfer(r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	return t.Status(), nil
}

func (s *Server) stop(r *http.Request) (any, error) {
	req, err := read[NameRequest](r)
	if err != nil {
		return nil, err
	}
	t, err := s.cfg.Node.Transfer(req.Name)
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
	t, err := s.cfg.Node.Transfer(req.Name)
	if err != nil {
		return nil, err
	}
	st := t.Status()
	return st, s.cfg.Node.Remove(t, req.Content)
}

func (s *Server) fleet(r *http.Request) (any, error) {
	link, err := s.readLink(r)
	if err != nil {
		return nil, err
	}
	return AskFleet(r.Context(), s.cfg.Node.Host(), link)
}

// readLink reads a link and adds the node's trackers to it.
func (s *Server) readLink(r *http.Request) (*proto.Link, error) {
	req, err := read[LinkRequest](r)
	if err != nil {
		return nil, err
	}
	link, err := proto.ParseLink(req.Link)
	if err != nil {
		return nil, err
	}
	link.Trackers = append(link.Trackers, s.cfg.Trackers...)
	return link, nil
}

func texts(addrs []ma.Multiaddr) []string {
	out := []string{}
	for _, a := range addrs {
		out = append(out, a.String())
	}
	return out
}

// absolute refuses a path that would mean another place to the daemon than to
// its client.
func absolute(path string) error {
	if filepath.IsAbs(path) {
		return nil
	}
	return &Error{CodeRequest, "the path must be absolute"}
}
