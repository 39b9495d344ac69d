package tracker

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"math"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/proto"
)

// waitTimeout bounds each wait of a test. It only ends hangs: a busy machine may take long.
const waitTimeout = 3 * time.Minute

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(waitTimeout); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not after %v: %s", waitTimeout, what)
		}
	}
}

// TestCollect collects an error and two replies. A silent tracker delays them for the grace.
func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := make(chan result[*proto.AnnounceReply])
		go func() {
			results <- result[*proto.AnnounceReply]{err: errClosed}
			time.Sleep(time.Minute)
			results <- result[*proto.AnnounceReply]{reply: &proto.AnnounceReply{Interval: 2}}
			time.Sleep(time.Second / 2)
			results <- result[*proto.AnnounceReply]{reply: &proto.AnnounceReply{Interval: 0}}
		}()
		began := time.Now()
		got, err := collect(results, 4, time.Second)
		if err != nil || len(got) != 2 || got[0].Interval != 2 || got[1].Interval != 0 {
			t.Errorf("collected %+v, %v", got, err)
		}
		if took := time.Since(began); took != time.Minute+time.Second {
			t.Errorf("took %v, want the grace after the first reply", took)
		}
	})
}

// silent is a tracker's address whose listener never answers.
func silent(t *testing.T) peer.AddrInfo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	a, err := manet.FromNetAddr(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return peer.AddrInfo{ID: loopHost(t).ID(), Addrs: []multiaddr.Multiaddr{a}}
}

// offline is a tracker's address without a listener.
func offline(t *testing.T) peer.AddrInfo {
	t.Helper()
	h := loopHost(t)
	info := peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}
	h.Close()
	return info
}

func TestClientWithFailedTrackers(t *testing.T) {
	t.Parallel()
	clk := new(clock)
	_, one := start(t, Default(nil), clk)
	_, two := start(t, Default(nil), clk)
	cfg := ClientConfig{Timeout: waitTimeout, Grace: time.Second}
	h, c := node(t, cfg, offline(t), one, silent(t), two)
	hOne, cOne := node(t, cfg, one)
	hTwo, cTwo := node(t, cfg, two)
	for _, err := range []error{
		second(cOne.Announce(t.Context(), announce(hOne, "A", 1))),
		second(cTwo.Announce(t.Context(), announce(hTwo, "B", 10))),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second request queues behind the first one to the silent tracker
		eventually(t, "a reply with a member of each tracker", func() bool {
			got, err := c.Announce(t.Context(), announce(h, "A", 5))
			if err != nil {
				t.Fatal(err)
			}
			return len(got.Members) == 2
		})
	}
	want := []proto.ScrapeCluster{{Name: "A", Nodes: 2, Missing: 14}, {Name: "B", Nodes: 1, Whole: 1}}
	eventually(t, "the progress of both clusters", func() bool {
		f, err := c.Scrape(t.Context(), []byte("swarm"))
		if err != nil {
			t.Fatal(err)
		}
		return reflect.DeepEqual(f.Clusters, want)
	})
}

func second[T any](_ T, err error) error { return err }

// TestClientOfNode asks a node that is not a tracker.
func TestClientOfNode(t *testing.T) {
	t.Parallel()
	other := loopHost(t)
	_, c := node(t, ClientConfig{Timeout: waitTimeout}, peer.AddrInfo{ID: other.ID(), Addrs: other.Addrs()})
	for range 2 {
		if _, err := c.Scrape(t.Context(), []byte("swarm")); err == nil || !strings.Contains(err.Error(), "does not answer as a tracker") {
			t.Errorf("Scrape: %v", err)
		}
	}
}

func TestClientWithoutReply(t *testing.T) {
	t.Parallel()
	away := peer.AddrInfo{ID: loopHost(t).ID(), Addrs: []multiaddr.Multiaddr{multiaddr.StringCast("/ip4/127.0.0.1/tcp/1")}}
	for why, c := range map[string]struct {
		timeout  time.Duration
		trackers []peer.AddrInfo
	}{
		"connection refused": {waitTimeout, []peer.AddrInfo{away}},
		"no answer in time":  {time.Second, []peer.AddrInfo{away, silent(t)}},
	} {
		h, client := node(t, ClientConfig{Timeout: c.timeout}, c.trackers...)
		_, err := client.Announce(t.Context(), announce(h, "A", 0))
		if err == nil {
			t.Fatal("no error")
		}
		text := err.Error()
		wants := []string{"no tracker answered: tracker /ip4/127.0.0.1/tcp/", "/p2p/12D3", why}
		for _, tr := range client.trackers {
			wants = append(wants, tr.addr)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q does not contain %q", text, want)
			}
		}
		if strings.Contains(text, "\n") {
			t.Errorf("%q has more than one line", text)
		}
	}
	h, none := node(t, ClientConfig{})
	if _, err := none.Announce(t.Context(), announce(h, "A", 0)); !errors.Is(err, ErrNoTracker) {
		t.Errorf("got %v, want ErrNoTracker", err)
	}
}

func TestClientCancel(t *testing.T) {
	t.Parallel()
	h, c := node(t, ClientConfig{Timeout: time.Hour}, silent(t))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Announce(ctx, announce(h, "A", 0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	c.Close()
	if _, err := c.Announce(t.Context(), announce(h, "A", 0)); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A tracker that is slower than the grace receives the announce nevertheless, and
// the leave after it.
func TestClientSlowTracker(t *testing.T) {
	t.Parallel()
	clk := new(clock)
	_, fast := start(t, Default(nil), clk)
	slow := loopHost(t)
	received := make(chan bool, 2)
	slow.SetStreamHandler(proto.TrackerProtocol, func(st network.Stream) {
		defer st.Close()
		req, err := proto.ReadMessage(st)
		if err != nil {
			return
		}
		a := req.(*proto.Announce)
		if !a.Leaving {
			time.Sleep(400 * time.Millisecond)
		}
		received <- a.Leaving
		_ = proto.WriteMessage(st, &proto.AnnounceReply{Interval: 5}) // the client may have closed
	})
	h, c := node(t, ClientConfig{Timeout: waitTimeout, Grace: 20 * time.Millisecond}, fast, peer.AddrInfo{ID: slow.ID(), Addrs: slow.Addrs()})
	ctx, cancel := context.WithCancel(t.Context())
	a := announce(h, "A", 0)
	if _, err := c.Announce(ctx, a); err != nil {
		t.Fatal(err)
	}
	cancel() // the call has returned: the request depends on neither ctx nor a
	a.Leaving = true
	if _, err := c.Announce(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		select {
		case got := <-received:
			if got != want {
				t.Error("the leave came before the announce")
			}
		case <-time.After(waitTimeout):
			t.Fatal("the slow tracker received no announce")
		}
	}
}

func TestClientRedialsTracker(t *testing.T) {
	t.Parallel()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	away := offline(t)
	away.ID = id
	h, c := node(t, ClientConfig{}, away)
	for range 3 { // enough for libp2p to back off
		if _, err := c.Announce(t.Context(), announce(h, "A", 0)); err == nil {
			t.Fatal("an announce without a tracker succeeded")
		}
	}
	back, err := newHost(away.Addrs, key)
	if err != nil {
		t.Skipf("the port was taken while the test ran: %v", err)
	}
	defer back.Close()
	s := New(back, nil)
	defer s.Close()
	if _, err := c.Announce(t.Context(), announce(h, "A", 0)); err != nil {
		t.Errorf("the tracker is back: %v", err)
	}
}

func TestMergeAnnounceReplies(t *testing.T) {
	t.Parallel()
	a, b, c := []byte{1}, []byte{2}, []byte{3}
	got := mergeAnnounceReplies([]*proto.AnnounceReply{
		{Interval: 30, Members: []proto.Member{{ID: "x", Cluster: "A", Addrs: [][]byte{a}}, {ID: "me", Cluster: "A"}}},
		{Interval: 0, Members: nil},
		{Interval: 10, Members: []proto.Member{
			{ID: "x", Cluster: "B", Addrs: [][]byte{a, b}},
			{ID: "y", Cluster: "B", Addrs: [][]byte{c}},
		}},
	}, "me")
	want := &proto.AnnounceReply{Interval: 10, Members: []proto.Member{
		{ID: "x", Cluster: "A", Addrs: [][]byte{a, b}},
		{ID: "y", Cluster: "B", Addrs: [][]byte{c}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if never := mergeAnnounceReplies([]*proto.AnnounceReply{{Interval: math.MaxUint32}}, "me"); never.Interval != maxInterval {
		t.Errorf("the next announce after %d s", never.Interval)
	}
	if often := mergeAnnounceReplies([]*proto.AnnounceReply{{Interval: 30}, {Interval: 1}}, "me"); often.Interval != minInterval {
		t.Errorf("the next announce after %d s", often.Interval)
	}
}

func TestMergeScrapes(t *testing.T) {
	t.Parallel()
	got := mergeScrapes([]*proto.Scrape{
		{Clusters: []proto.ScrapeCluster{{Name: "B", Nodes: 3, Whole: 1}, {Name: "C", Nodes: 1}}},
		{Clusters: []proto.ScrapeCluster{{Name: "A", Nodes: 1}, {Name: "B", Nodes: 2, Whole: 2}}},
	})
	want := &proto.Scrape{Clusters: []proto.ScrapeCluster{
		{Name: "A", Nodes: 1}, {Name: "B", Nodes: 3, Whole: 1}, {Name: "C", Nodes: 1},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestClientDropsUnreachable checks that a node does not get the loopback addresses that a tracker on another machine names.
func TestClientDropsUnreachable(t *testing.T) {
	addrs := func() [][]byte {
		return [][]byte{multiaddr.StringCast("/ip4/127.0.0.1/tcp/22").Bytes(), multiaddr.StringCast("/ip4/10.0.0.1/tcp/1").Bytes()}
	}
	for from, want := range map[string]int{"192.0.2.1": 1, "127.0.0.1": 2} {
		for _, reply := range []proto.Message{
			&proto.AnnounceReply{Members: []proto.Member{{ID: "m", Addrs: addrs()}}},
			&proto.Hosts{Hosts: []proto.Host{{ID: "m", Addrs: addrs()}}},
		} {
			dropUnreachable(reply, netip.MustParseAddr(from))
			var got [][]byte
			switch m := reply.(type) {
			case *proto.AnnounceReply:
				got = m.Members[0].Addrs
			case *proto.Hosts:
				got = m.Hosts[0].Addrs
			}
			if len(got) != want || !bytes.Equal(got[want-1], addrs()[1]) {
				t.Errorf("%T from %s: addresses %x", reply, from, got)
			}
		}
	}
}

// TestClientDropsUnreachableAnnounceURLs checks that a tracker on another machine names no service of this one, also not by a name:
// the node connects to these URLs as if its user had given them.
func TestClientDropsUnreachableAnnounceURLs(t *testing.T) {
	urls := func() []string {
		return []string{
			"http://127.0.0.1:80/admin/delete?yes=1", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest", "http://[fe80::1%25eth0]:80/",
			"udp://0.0.0.0:53", "http://localhost:80/", "http://127.1/", "http://0x7f000001/", "http://rebound.example/announce",
			"http://10.0.0.1:6969/announce", "udp://192.0.2.7:6969",
		}
	}
	for from, want := range map[string][]string{
		"192.0.2.1":   urls()[9:],
		"10.0.0.9":    urls()[9:],
		"":            urls()[9:],
		"169.254.0.1": append(urls()[2:4], urls()[9:]...),
		"127.0.0.1":   append(urls()[:4], urls()[9:]...),
	} {
		reply := &proto.AnnounceURLs{URLs: urls()}
		at, _ := netip.ParseAddr(from)
		dropUnreachable(reply, at)
		if !slices.Equal(reply.URLs, want) {
			t.Errorf("from %q: %q, want %q", from, reply.URLs, want)
		}
	}
}
