package peer

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// codedAs is the link with another k, or with 0 for plain pieces.
func codedAs(link *proto.Link, k int) *proto.Link {
	other := *link
	other.Coded, other.Strategy = k, proto.ReceiverDriven
	return &other
}

// startLogged starts a node that logs to memory.
func startLogged(t *testing.T, cluster string, d *directory) (*Node, *logged) {
	t.Helper()
	l := new(logged)
	cfg := Config{
		Data:     t.TempDir(),
		Cluster:  cluster,
		Torrents: fakeTorrents{},
		Listen:   []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")},
		Log:      slog.New(slog.NewTextHandler(l, nil)),
	}
	if d != nil {
		cfg.Finder, cfg.Trackers = d.finder, []ma.Multiaddr{ma.StringCast(trackerAddr)}
	}
	n, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n, l
}

// mustBeExcluded waits for a get to fail with a text.
func mustBeExcluded(t *testing.T, get *Transfer, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := get.Wait(ctx)
	var no *proto.RemoteError
	if !errors.As(err, &no) || no.Code != proto.CodeExcluded || no.Text != text {
		t.Errorf("the get ended with %v, want %q", err, text)
	}
}

// mismatches are ways to exchange a content, and what a node that uses the first tells one
// that uses the second.
var mismatches = map[string]struct {
	seed, get int
	text      string
}{
	"coded seed, plain get": {16, 0, "this content is coded with k=16 here, not sent as plain pieces: use the link that has x.rlnc=16"},
	"plain seed, coded get": {0, 16, "this content is sent as plain pieces here, not coded with k=16: use a link without x.rlnc"},
	"k of 16, k of 8":       {16, 8, "this content is coded with k=16 here, not coded with k=8: use the link that has x.rlnc=16"},
}

// TestRefusesOtherCoding has a node dial the link's peer, which exchanges the content in another
// way: the transfer fails with the peer's reason, and the peer logs it.
func TestRefusesOtherCoding(t *testing.T) {
	for name, tt := range mismatches {
		t.Run(name, func(t *testing.T) {
			a, log := startLogged(t, "A", nil)
			b := startNode(t, "B", t.TempDir())
			_, link, _ := seedCoded(t, a, 1<<20, tt.seed)
			get := mustGet(t, b, codedAs(link, tt.get), filepath.Join(t.TempDir(), "out"))
			mustBeExcluded(t, get, tt.text)
			if log.count(tt.text) != 1 {
				t.Errorf("the seed logged %q, want %q once", &log.text, tt.text)
			}
		})
	}
}

// TestLogsOtherCodingOnce has nodes find each other by a tracker, and dial each other again and
// again: both log the reason, once, and neither fails.
func TestLogsOtherCodingOnce(t *testing.T) {
	for name, tt := range mismatches {
		t.Run(name, func(t *testing.T) {
			d := newDirectory()
			a, logA := startLogged(t, "A", d)
			b, logB := startLogged(t, "B", d)
			a.cfg.Tuning.Retry, b.cfg.Tuning.Retry = 10*time.Millisecond, 10*time.Millisecond
			_, link, _ := seedCoded(t, a, 1<<20, tt.seed)
			link.Peers = nil
			get := mustGet(t, b, codedAs(link, tt.get), filepath.Join(t.TempDir(), "out"))
			const text = "peer excluded"
			eventually(t, "a refusal on both sides", func() bool { return logA.count(text) > 0 && logB.count(text) > 0 })
			time.Sleep(500 * time.Millisecond)
			if n, m := logA.count(text), logB.count(text); n != 1 || m != 1 {
				t.Errorf("%d and %d refusals are logged, want one each", n, m)
			}
			if logA.count(tt.text)+logB.count(tt.text) == 0 {
				t.Errorf("nobody logged %q", tt.text)
			}
			if st := get.Status(); st.Phase != Fetching || st.Connected != 0 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// TestRefusedByOldPeer dials a peer that accepts nodes which use another coding, as older
// programs do: the node ends the session with the reason that the peer should have given.
func TestRefusedByOldPeer(t *testing.T) {
	for name, tt := range mismatches {
		t.Run(name, func(t *testing.T) {
			a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
			_, link, _ := seedCoded(t, a, 1<<20, tt.seed)
			features := proto.Coding{K: tt.seed}.Features()
			a.host.SetStreamHandler(proto.ControlProtocol, func(s network.Stream) {
				hello, err := swarm.ReadHello(s)
				if err != nil {
					return
				}
				_ = proto.WriteMessage(s, &proto.Hello{Swarm: hello.Swarm, Cluster: "A", Features: features})
			})
			get := mustGet(t, b, codedAs(link, tt.get), filepath.Join(t.TempDir(), "out"))
			mustBeExcluded(t, get, tt.text)
		})
	}
}
