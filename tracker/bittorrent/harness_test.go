package bittorrent

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anacrolix/torrent/types/infohash"

	"github.com/mobgrid/mob/tracker"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clock is a virtual time, which only add advances.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time      { return epoch.Add(time.Duration(c.passed.Load())) }
func (c *clock) add(d time.Duration) { c.passed.Add(int64(d)) }

// hash is the info-hash of a test torrent.
func hash(n int) (h infohash.T) {
	h[0], h[18], h[19] = byte(n>>16), byte(n>>8), byte(n)
	return h
}

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// startServer starts a tracker in virtual time that listens at an address, until the end
// of the test.
func startServer(t testing.TB, cfg tracker.Config, c *clock, at string) *Server {
	t.Helper()
	s, err := newServer("", cfg, c.now)
	if err != nil {
		t.Fatal(err)
	}
	l, err := listen(at)
	if err != nil {
		t.Skip("cannot listen: ", err) // a machine may have no IPv6
	}
	s.serve(l)
	t.Cleanup(func() { s.Close() })
	return s
}
