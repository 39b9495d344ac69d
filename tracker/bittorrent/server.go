package bittorrent

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// Server is a BitTorrent tracker. Its methods may be called from any goroutine.
type Server struct {
	// Set by Listen, then read only.
	cfg   Config
	clock func() time.Time
	addrs []netip.AddrPort
	http  *http.Server

	// state is changed by requests. The lock is held for microseconds, never for I/O.
	state struct {
		sync.Mutex
		table *table
	}

	counts  struct{ requests, refused atomic.Int64 }
	serving sync.WaitGroup
}

// Listen starts a tracker that listens at each of the addresses ADDR:PORT.
func Listen(addrs []string, cfg Config) (*Server, error) {
	s, err := newServer(cfg, time.Now)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		l, err := listen(addr)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cannot listen at %q: %w", addr, err), s.Close())
		}
		s.serve(l)
	}
	return s, nil
}

// newServer is a tracker that does not listen yet.
func newServer(cfg Config, clock func() time.Time) (*Server, error) {
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, clock: clock}
	s.state.table = newTable(cfg)
	s.http = s.newHTTP()
	return s, s.Reload()
}

// serve starts to serve requests from l.
func (s *Server) serve(l net.Listener) {
	at := l.Addr().(*net.TCPAddr).AddrPort()
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	s.addrs = append(s.addrs, at)
	s.serving.Go(func() {
		if err := s.http.Serve(newLimitListener(l, s.cfg.MaxConns)); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Log.Error("tracker stopped to serve HTTP", "address", at, "error", err)
		}
	})
}

// Addrs returns the addresses that the tracker listens at.
func (s *Server) Addrs() []netip.AddrPort { return slices.Clone(s.addrs) }

// Reload reads the list of torrents again, if there is one, and removes the peers of
// torrents that are no longer in it. Each line has an info-hash in hexadecimal digits,
// 40 of version 1 or 64 of version 2, and may have a comment after a space; empty
// lines and those that begin with # are ignored. An error leaves the list as it was.
func (s *Server) Reload() error {
	if s.cfg.Torrents == "" {
		return nil
	}
	only, err := readTorrents(s.cfg.Torrents)
	if err != nil {
		return err
	}
	s.state.Lock()
	s.state.table.allow(only)
	s.state.Unlock()
	s.cfg.Log.Info("list of torrents read", "torrents", len(only))
	return nil
}

// readTorrents reads the list of [Server.Reload].
func readTorrents(path string) (map[infohash.T]struct{}, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of torrents: %w", err)
	}
	out := make(map[infohash.T]struct{})
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		hash, err := hex.DecodeString(words[0])
		if err != nil || len(hash) != 20 && len(hash) != 32 {
			return nil, fmt.Errorf("line %d of %s is no info-hash: give 40 hexadecimal digits, or the 64 of version 2",
				n, path)
		}
		out[infohash.T(hash[:infohash.Size])] = struct{}{} // trackers see a version 2 hash truncated (BEP 52)
	}
	return out, nil
}

// Close stops the tracker and waits for its goroutines. It may be called more than
// once.
func (s *Server) Close() error {
	err := s.http.Close()
	s.serving.Wait()
	return err
}

func (s *Server) announce(a *announce) (announceResult, error) {
	s.state.Lock()
	defer s.state.Unlock()
	out, err := s.state.table.announce(s.clock(), a)
	s.counts.requests.Add(1)
	if err != nil {
		s.counts.refused.Add(1)
	}
	return out, err
}

// Stats are the figures of a tracker for monitoring.
type Stats struct {
	Torrents, Peers       int // now
	MaxTorrents, MaxPeers int
	// Announces counts those that could be read since the start, and Refused those of them that the
	// tracker refused.
	Announces, Refused int64
}

// Stats returns the figures of the tracker.
func (s *Server) Stats() Stats {
	st := Stats{
		MaxTorrents: s.cfg.MaxTorrents,
		MaxPeers:    s.cfg.MaxPeers,
		Announces:   s.counts.requests.Load(),
		Refused:     s.counts.refused.Load(),
	}
	s.state.Lock()
	defer s.state.Unlock()
	s.state.table.expire(s.clock())
	st.Torrents, st.Peers = len(s.state.table.torrents), s.state.table.order.Len()
	return st
}

func (s *Server) scrape(hash infohash.T) (Counts, bool) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.state.table.scrape(s.clock(), hash)
}

func seconds(d time.Duration) int64 {
	return int64(max(d.Round(time.Second), time.Second) / time.Second)
}
