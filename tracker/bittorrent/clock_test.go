package bittorrent

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clock is a time that stands still until it is moved.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time      { return epoch.Add(time.Duration(c.passed.Load())) }
func (c *clock) add(d time.Duration) { c.passed.Add(int64(d)) }

// hash is the info-hash of a torrent for tests.
func hash(n int) (h infohash.T) {
	h[0], h[18], h[19] = byte(n>>16), byte(n>>8), byte(n)
	return h
}

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// ported is a tracker in virtual time that listens at addr and ends with the test.
func ported(t testing.TB, cfg Config, c *clock, at string) *Server {
	t.Helper()
	s, err := newServer(cfg, c.now)
	if err != nil {
		t.Fatal(err)
	}
	p, err := openPort(at)
	if err != nil {
		t.Skip("no port: ", err) // a machine may have no IPv6
	}
	s.serve(p)
	t.Cleanup(func() { s.Close() })
	return s
}
