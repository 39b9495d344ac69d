package bittorrent

import (
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
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

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/tracker"
)

// Server is a BitTorrent tracker. Its methods may be called from any goroutine.
type Server struct {
	// Set by Listen, then read only.
	cfg      tracker.Config
	torrents string // path of the list, empty for all
	addrs    []netip.AddrPort
	http     *http.Server
	clients  *tracker.Clients

	allowed atomic.Pointer[map[infohash.T]struct{}] // nil for all torrents
	counts  struct{ requests, rejected atomic.Int64 }
	conns   *quota.Shared[netip.Addr] // by the address that they are charged to
	serving sync.WaitGroup
}

// defaults returns the configuration of a tracker. rTorrent accepts no interval below 10 min. A
// client whose announce is lost announces again before it expires.
func defaults(log *slog.Logger) tracker.Config {
	cfg := tracker.Default(log)
	cfg.Interval = 10 * time.Minute
	cfg.Expiry = 25 * time.Minute
	cfg.MaxSwarms = 100_000
	cfg.MaxSwarmMembers = 50_000
	cfg.MaxMembers = 500_000
	cfg.MaxStreams = 2048
	return cfg
}

// Listen starts a tracker that listens at each of the addresses ADDR:PORT. torrents is the path of a
// list of the torrents to serve, see [Server.Reload]; all if it is empty. A nil log means none. One address may have as
// many HTTP connections as are free.
func Listen(addrs []string, torrents string, log *slog.Logger) (*Server, error) {
	s, err := newServer(torrents, defaults(log), time.Now)
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

// newServer returns a tracker that does not listen yet.
func newServer(torrents string, cfg tracker.Config, clock func() time.Time) (*Server, error) {
	s := &Server{cfg: cfg, torrents: torrents, clients: tracker.NewClients(cfg, clock)}
	s.conns = quota.NewShared[netip.Addr](cfg.MaxStreams)
	s.http = s.newHTTP()
	return s, s.Reload()
}

func (s *Server) serve(l net.Listener) {
	at := l.Addr().(*net.TCPAddr).AddrPort()
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	s.addrs = append(s.addrs, at)
	s.serving.Go(func() {
		if err := s.http.Serve(quota.Limit(l, s.conns)); !errors.Is(err, http.ErrServerClosed) {
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
	if s.torrents == "" {
		return nil
	}
	only, err := readTorrents(s.torrents)
	if err != nil {
		return err
	}
	s.allowed.Store(&only)
	s.clients.Keep(func(swarm string) bool { return s.allows(infohash.T([]byte(swarm))) })
	s.cfg.Log.Info("list of torrents read", "torrents", len(only))
	return nil
}

func (s *Server) allows(hash infohash.T) bool {
	allowed := s.allowed.Load()
	if allowed == nil {
		return true
	}
	_, ok := (*allowed)[hash]
	return ok
}

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
			return nil, fmt.Errorf("%s:%d: invalid info-hash: must be 40 or 64 hexadecimal digits", path, n)
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

// Stats are the measurements of a tracker for monitoring.
type Stats struct {
	Torrents, Peers       int // now
	MaxTorrents, MaxPeers int
	// Announces counts the valid announces since the start, and Rejected the rejected ones among them.
	Announces, Rejected int64
}

// Stats returns the measurements of the tracker.
func (s *Server) Stats() Stats {
	st := Stats{
		MaxTorrents: s.cfg.MaxSwarms,
		MaxPeers:    s.cfg.MaxMembers,
		Announces:   s.counts.requests.Load(),
		Rejected:    s.counts.rejected.Load(),
	}
	st.Torrents, st.Peers = s.clients.Len()
	return st
}
