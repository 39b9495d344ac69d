package bittorrent

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// Server is a BitTorrent tracker.
type Server struct {
	// Set by Listen, then read only.
	cfg     Config
	clock   func() time.Time
	cookies *cookies
	ports   []*port
	http    *http.Server

	// state is what requests change; it is held for microseconds, never for I/O.
	state struct {
		sync.Mutex
		table *table
	}

	serving sync.WaitGroup
}

// Listen starts a tracker at each of the addresses ADDR:PORT, on TCP and on UDP.
func Listen(addrs []string, cfg Config) (*Server, error) {
	s, err := newServer(cfg, time.Now)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		p, err := openPort(addr)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cannot listen at %q: %w", addr, err), s.Close())
		}
		s.serve(p)
	}
	return s, nil
}

// newServer is a tracker without a port.
func newServer(cfg Config, clock func() time.Time) (*Server, error) {
	cfg = cfg.complete()
	s := &Server{cfg: cfg, clock: clock, cookies: newCookies()}
	s.state.table = newTable(cfg)
	s.http = s.newHTTP()
	return s, s.Reload()
}

// serve begins to serve a port.
func (s *Server) serve(p *port) {
	s.ports = append(s.ports, p)
	s.serving.Go(func() { s.serveUDP(p.udp) })
	s.serving.Go(func() {
		if err := s.http.Serve(bound(p.tcp, s.cfg.MaxConns)); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Log.Error("the tracker's HTTP ended", "address", p.addr(), "error", err)
		}
	})
}

// Addrs are where the tracker listens, with the ports that it got.
func (s *Server) Addrs() []netip.AddrPort {
	out := make([]netip.AddrPort, len(s.ports))
	for i, p := range s.ports {
		out[i] = p.addr()
	}
	return out
}

// Reload reads the list of torrents again: an info-hash in hexadecimal digits on
// each line. Peers of torrents that are gone from it are forgotten. After an error
// the list is what it was.
func (s *Server) Reload() error {
	if s.cfg.Torrents == "" {
		return nil
	}
	only, err := readTorrents(s.cfg.Torrents)
	if err != nil {
		return err
	}
	s.state.Lock()
	defer s.state.Unlock()
	s.state.table.admit(only)
	s.cfg.Log.Info("list of torrents read", "torrents", len(only))
	return nil
}

// Size counts the torrents and the peers that are known now, for display.
func (s *Server) Size() (torrents, peers int) {
	s.state.Lock()
	defer s.state.Unlock()
	s.state.table.expire(s.clock())
	return len(s.state.table.torrents), s.state.table.order.Len()
}

// Close stops the tracker, and returns when nothing of it is left. It may be called
// more than once.
func (s *Server) Close() error {
	err := s.http.Close()
	for _, p := range s.ports {
		p.close() // TCP is closed already
	}
	s.serving.Wait()
	return err
}

func (s *Server) announce(a *announce) (answer, error) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.state.table.announce(s.clock(), a)
}

func (s *Server) scrape(hash infohash.T) (tally, bool) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.state.table.scrape(s.clock(), hash)
}

func seconds(d time.Duration) int64 {
	return int64(max(d.Round(time.Second), time.Second) / time.Second)
}
