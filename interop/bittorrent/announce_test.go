package bittorrent

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anacrolix/torrent/bencode"
	anacrolix "github.com/anacrolix/torrent/tracker"
	"github.com/anacrolix/torrent/types/infohash"

	tracker "github.com/mobgrid/mob/tracker/bittorrent"
)

// TestAnnouncesByUDP has two nodes meet that only know a UDP tracker: one seeds, and the
// other asks what the torrent is.
func TestAnnouncesByUDP(t *testing.T) {
	tr, err := tracker.Listen([]string{"127.0.0.1:0"}, tracker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s := newSample(t, 1<<20)
	offer := s.offer()
	offer.Trackers = []string{"udp://" + tr.Addrs()[0].String() + "/announce"}
	n := startNode(t, "A", offer, 0)
	n.seed(t, s)
	client, err := anacrolix.NewClient(offer.Trackers[0], anacrolix.NewClientOpts{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	eventually(t, "the announce", func() bool {
		got, err := client.Scrape(t.Context(), []infohash.T{s.torrent.Hash})
		return err == nil && got[0].Seeders == 1
	})
	link := s.plainLink()
	link.Announce = offer.Trackers
	if got, err := startServer(t).Describe(t.Context(), link); err != nil || !bytes.Equal(got, s.torrent.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// heardAnnounce is an announce as a tracker hears it.
type heardAnnounce struct {
	event string
	left  int64
}

// notingTracker is an HTTP tracker that knows nobody, and notes what it hears.
func notingTracker(t *testing.T) (url string, heard func() []heardAnnounce) {
	t.Helper()
	var mu sync.Mutex
	var all []heardAnnounce
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		left, err := strconv.ParseInt(q.Get("left"), 10, 64)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, heardAnnounce{q.Get("event"), left})
		_, _ = w.Write(bencode.MustMarshal(map[string]any{"interval": 1800, "peers": ""}))
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/announce", func() []heardAnnounce {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestAnnouncesItsEvents has a node fetch, and another seed: only the one that becomes
// whole says that it has completed, and both say when they leave.
func TestAnnouncesItsEvents(t *testing.T) {
	s := newSample(t, 1<<20)
	seed := startSeed(t, s, 1, func(c *client) {
		c.offer()
		c.serve(nil)
	})
	for _, whole := range []bool{false, true} {
		url, heard := notingTracker(t)
		offer := s.offer()
		offer.Trackers = []string{url}
		offer.Peers = []netip.AddrPort{seed.Addr().(*net.TCPAddr).AddrPort()}
		n := startNode(t, "A", offer, 0)
		want := []heardAnnounce{{"started", 0}, {"stopped", 0}}
		if whole {
			tr := n.seed(t, s)
			eventually(t, "the first announce", func() bool { return len(heard()) > 0 })
			if err := tr.Stop(); err != nil {
				t.Fatal(err)
			}
		} else {
			tr, _ := n.get(t, s)
			mustWait(t, tr)
			want = []heardAnnounce{{"started", int64(len(s.data))}, {"completed", 0}, {"stopped", 0}}
			eventually(t, "the announce of the end", func() bool {
				return slices.ContainsFunc(heard(), func(a heardAnnounce) bool { return a.event == "completed" })
			})
			if err := tr.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		got := heard()
		if !whole && len(got) > 0 {
			got[0].left = int64(len(s.data)) // the first may come when something is there
		}
		if !slices.Equal(got, want) {
			t.Errorf("whole %v: the tracker heard %+v, want %+v", whole, got, want)
		}
	}
}

// nowhere is a listener that nobody connects to.
type nowhere struct{ closed chan struct{} }

func (l nowhere) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l nowhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 6881} }

func (l nowhere) Close() error {
	close(l.closed)
	return nil
}

// TestBacksOff has neither a tracker nor a client answer, for a day: both are asked less
// and less often, the tracker for ever and the client until it is forgotten.
func TestBacksOff(t *testing.T) {
	s := newSample(t, 1<<10)
	synctest.Test(t, func(t *testing.T) {
		const trackerAt, clientAt = "192.0.2.2:80", "192.0.2.3:6881"
		began := time.Now()
		var mu sync.Mutex
		dials := map[string][]time.Duration{}
		server := serve(Config{Client: "mob test", Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			dials[addr] = append(dials[addr], time.Since(began))
			return nil, errors.New("nobody is there")
		}}, nowhere{make(chan struct{})})
		defer server.Close()
		link := s.plainLink(netip.MustParseAddrPort(clientAt))
		link.Announce = []string{"http://" + trackerAt + "/announce"}
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if info, err := server.Describe(ctx, link); info != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%d bytes, %v", len(info), err)
		}
		for addr, c := range map[string]struct {
			first, last time.Duration
			forgotten   bool
		}{
			trackerAt: {announceRetry, announceMost, false},
			clientAt:  {firstPause, lastPause, true},
		} {
			var pauses []time.Duration
			for i, at := range dials[addr][1:] {
				pauses = append(pauses, at-dials[addr][i])
			}
			if n := len(pauses); n < 5 || pauses[0] != c.first {
				t.Fatalf("%s: pauses %v", addr, pauses)
			}
			if !c.forgotten {
				pauses = pauses[:len(pauses)-1] // the last announce says that the node leaves
			}
			for i, p := range pauses[1:] {
				if p != min(2*pauses[i], c.last) {
					t.Errorf("%s: %v comes after %v", addr, p, pauses[i])
				}
			}
			if silent := 24*time.Hour - dials[addr][len(dials[addr])-1]; c.forgotten != (silent > 2*c.last) {
				t.Errorf("%s: silent for %v", addr, silent)
			}
		}
	})
}
