package bittorrent

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anacrolix/torrent/bencode"
	"github.com/anacrolix/torrent/tracker"
	"github.com/anacrolix/torrent/tracker/udp"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// TestAnnounceByUDP checks that two nodes find each other by a UDP tracker: one seeds, and the
// other downloads the info dictionary.
func TestAnnounceByUDP(t *testing.T) {
	t.Parallel()
	url, peers := udpTracker(t, 1)
	s := newSample(t, 1<<20)
	torrent := s.torrent()
	torrent.Trackers = []string{url}
	n := startNode(t, "A", torrent, 0)
	n.seed(t, s)
	eventually(t, "the announce", func() bool { return peers.Load() > 0 })
	link := s.plainLink()
	link.Announce = torrent.Trackers
	if got, err := startServer(t).Describe(t.Context(), link); err != nil || !bytes.Equal(got, s.meta.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// TestRepliesByUDP checks that announces end if a tracker sends each reply many times.
func TestRepliesByUDP(t *testing.T) {
	t.Parallel()
	url, peers := udpTracker(t, 10)
	s := startServer(t)
	m := s.newConnManager(t.Context(), proto.InfoHash{1}, handler{progress: func() progress { return progress{} }}, s.cfg.Log)
	client, _, err := m.newAnnouncer(url)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const announces = 20
	for range announces {
		ended := make(chan error, 1)
		go func() {
			_, err := client.Announce(t.Context(), m.announceRequest(tracker.None), m.announceOptions())
			ended <- err
		}()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("an announce does not end")
		}
	}
	if peers.Load() < announces {
		t.Errorf("%d announces were received", peers.Load())
	}
}

// udpTracker is a UDP tracker of one torrent (BEP 15), which sends copies of each reply. peers counts those that have announced.
func udpTracker(t *testing.T, copies int) (url string, peers *atomic.Int32) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	peers = new(atomic.Int32)
	served := make(chan struct{})
	go func() {
		defer close(served)
		var known []byte
		for b := make([]byte, 2048); ; {
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			var request struct {
				udp.RequestHeader
				udp.AnnounceRequest
			}
			r := bytes.NewReader(b[:n])
			_ = binary.Read(r, binary.BigEndian, &request.RequestHeader)
			reply, _ := binary.Append(nil, binary.BigEndian, udp.ResponseHeader{Action: request.Action, TransactionId: request.TransactionId})
			if request.Action == udp.ActionConnect {
				reply = append(reply, "identity"...)
			} else {
				_ = binary.Read(r, binary.BigEndian, &request.AnnounceRequest)
				reply, _ = binary.Append(reply, binary.BigEndian, udp.AnnounceResponseHeader{Interval: 1800})
				reply = append(reply, known...)
				known = binary.BigEndian.AppendUint16(append(known, from.Addr().Unmap().AsSlice()...), request.Port)
				peers.Add(1)
			}
			for range copies {
				_, _ = conn.WriteToUDPAddrPort(reply, from)
			}
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-served
	})
	return "udp://" + conn.LocalAddr().String() + "/announce", peers
}

// receivedAnnounce is an announce that a tracker received.
type receivedAnnounce struct {
	event string
	left  int64
}

// recordingTracker is an HTTP tracker without peers that records announces.
func recordingTracker(t *testing.T) (url string, received func() []receivedAnnounce) {
	t.Helper()
	var mu sync.Mutex
	var all []receivedAnnounce
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		left, err := strconv.ParseInt(q.Get("left"), 10, 64)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, receivedAnnounce{q.Get("event"), left})
		_, _ = w.Write(bencode.MustMarshal(map[string]any{"interval": 1800, "peers": ""}))
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/announce", func() []receivedAnnounce {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestAnnounceEvents checks a node that downloads and one that seeds: only the first announces
// completed, and both announce stopped.
func TestAnnounceEvents(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	announced := make(chan struct{})
	seed := startSeed(t, s, 1, func(c *client) {
		<-announced // a node that is complete before its first announce does not announce completed
		c.sendAll()
		c.serve(nil)
	})
	for _, isSeed := range []bool{false, true} {
		url, received := recordingTracker(t)
		torrent := s.torrent()
		torrent.Trackers = []string{url}
		torrent.Peers = []netip.AddrPort{seed.Addr().(*net.TCPAddr).AddrPort()}
		n := startNode(t, "A", torrent, 0)
		var tr *peer.Transfer
		want := []receivedAnnounce{{"started", 0}}
		if isSeed {
			tr = n.seed(t, s)
		} else {
			tr, _ = n.get(t, s)
			want = []receivedAnnounce{{"started", int64(len(s.data))}, {"completed", 0}}
		}
		eventually(t, "the first announce", func() bool { return len(received()) > 0 })
		if !isSeed {
			close(announced)
			mustWait(t, tr)
			eventually(t, "the announce of completed", func() bool { return len(received()) > 1 })
		}
		stopping := time.Now()
		if err := tr.Stop(); err != nil {
			t.Fatal(err)
		}
		got := received()
		// On a busy machine, stoppedTimeout may pass before the announce arrives.
		if time.Since(stopping) < stoppedTimeout || len(got) > len(want) {
			want = append(want, receivedAnnounce{"stopped", 0})
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %v: the tracker received %+v, want %+v", isSeed, got, want)
		}
	}
}

// idleListener is a listener without connections.
type idleListener struct{ closed chan struct{} }

func (l idleListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l idleListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 6881} }

func (l idleListener) Close() error {
	close(l.closed)
	return nil
}

// TestBackoff checks the case that neither a tracker nor a client of a link answers, for a day: the node dials both
// with backoff, forever.
func TestBackoff(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<10)
	synctest.Test(t, func(t *testing.T) {
		const trackerAddr, clientAddr = "192.0.2.2:80", "192.0.2.3:6881"
		start := time.Now()
		var mu sync.Mutex
		dials := map[string][]time.Duration{}
		server := serve(Config{Client: "mob test", Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			dials[addr] = append(dials[addr], time.Since(start))
			return nil, errors.New("connection refused")
		}}, idleListener{make(chan struct{})})
		defer server.Close()
		link := s.plainLink(netip.MustParseAddrPort(clientAddr))
		link.Announce = []string{"http://" + trackerAddr + "/announce"}
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if info, err := server.Describe(ctx, link); info != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%d bytes, %v", len(info), err)
		}
		for addr, c := range map[string]struct{ first, last time.Duration }{
			trackerAddr: {minRetry, maxInterval},
			clientAddr:  {minBackoff, maxBackoff},
		} {
			var pauses []time.Duration
			for i, at := range dials[addr][1:] {
				pauses = append(pauses, at-dials[addr][i])
			}
			if n := len(pauses); n < 5 || pauses[0] != c.first {
				t.Fatalf("%s: pauses %v", addr, pauses)
			}
			pauses = pauses[:len(pauses)-1] // without the announce of stopped
			for i, p := range pauses[1:] {
				if p != min(2*pauses[i], c.last) {
					t.Errorf("%s: a pause of %v after %v", addr, p, pauses[i])
				}
			}
			if silent := 24*time.Hour - dials[addr][len(dials[addr])-1]; silent > 2*c.last {
				t.Errorf("%s: silent for %v", addr, silent)
			}
		}
	})
}

// TestLogHasNoInfoHash checks that the log does not have the info-hash of a torrent whose tracker is ignored.
func TestLogHasNoInfoHash(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	s := serve(Config{Log: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))}, idleListener{make(chan struct{})})
	link := &proto.Link{InfoHash: proto.InfoHash{1, 2, 3}, Announce: []string{"gopher://127.0.0.1/announce"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Describe(ctx, link); !errors.Is(err, context.Canceled) {
		t.Errorf("Describe failed with %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := text.String(); !strings.Contains(got, "tracker ignored") || strings.Contains(got, link.InfoHash.String()) {
		t.Errorf("the log is %s", got)
	}
}
