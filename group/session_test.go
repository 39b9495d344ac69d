package group_test

import (
	"context"
	"crypto/sha256"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// helloOf returns the GroupHello of a member of the group that join joins.
func helloOf(cluster string) *proto.GroupHello {
	key := sha256.Sum256(append([]byte("mob-group:"), append([]byte{1}, make([]byte, 31)...)...))
	return &proto.GroupHello{Key: proto.ManifestCID(key[:]).Bytes(), Cluster: cluster}
}

// open opens a stream from a host to a member, writes to it, and returns the first answer.
func open(t *testing.T, h host.Host, n *peer.Node, frames []byte) (network.Stream, proto.Message) {
	t.Helper()
	if err := h.Connect(t.Context(), peertest.AddrInfo(n)); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewStream(t.Context(), n.Host().ID(), proto.GroupProtocol)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Reset() })
	_ = s.SetDeadline(time.Now().Add(peertest.WaitTimeout))
	if _, err := s.Write(frames); err != nil {
		t.Fatal(err)
	}
	m, err := proto.ReadOpening(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// parcel returns the frame of a message with one part.
func parcel(h host.Host, number uint64, text string) []byte {
	return proto.AppendParcel(nil, &proto.Parcel{
		Sender: proto.PeerID(h.ID()), Number: number, Parts: 1, Sum: sha256.Sum256([]byte(text)), Payload: []byte(text),
	})
}

// trackerOf returns a tracker that names a member of the group that join joins, in the cluster Z.
func trackerOf(t *testing.T, id libpeer.ID, addrs []ma.Multiaddr) *peertest.Tracker {
	t.Helper()
	key, err := cid.Cast(helloOf("Z").Key)
	if err != nil {
		t.Fatal(err)
	}
	m := proto.Member{ID: proto.PeerID(id), Cluster: "Z"}
	for _, a := range addrs {
		m.Addrs = append(m.Addrs, a.Bytes())
	}
	d := peertest.NewTracker()
	d.Add(&proto.Link{Manifest: key}, m)
	return d
}

// A tracker names a member with an invalid id, which the JSON of a status could not have.
func TestInvalidMemberOfTracker(t *testing.T) {
	d := trackerOf(t, "invalid", nil)
	for _, g := range join(t, []*peer.Node{d.Start(t, "A"), d.Start(t, "A")}) {
		if all := g.Members(); len(all) != 1 {
			t.Errorf("members %v", all)
		}
	}
}

// A member opens another stream because it has lost the earlier one: the session ends and another one starts.
func TestAnotherStreamStartsAnotherSession(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 1)
	g := join(t, nodes)[0]
	h := peertest.Stranger(t)
	frames := append(frame(t, helloOf("Z")), parcel(h, 5, "")...)
	open(t, h, nodes[0], append(frames, parcel(h, 6, "one")...))
	if m := receive(t, g); string(m.Bytes) != "one" {
		t.Fatalf("%+v", m)
	}
	frames = append(frame(t, helloOf("Z")), parcel(h, 10, "")...)
	open(t, h, nodes[0], append(frames, parcel(h, 11, "two")...))
	if m := receive(t, g); !m.Left {
		t.Errorf("%+v, want the end of the first session", m)
	}
	if m := receive(t, g); string(m.Bytes) != "two" {
		t.Errorf("%+v", m)
	}
}

// Two members open a stream to each other: only the one of the lower peer id is used, so no session is replaced.
func TestDialOfLowerIDIsKept(t *testing.T) {
	seen := map[bool]bool{}
	for len(seen) < 2 {
		h := peertest.Stranger(t)
		n := trackerOf(t, h.ID(), h.Addrs()).Start(t, "A")
		lower := h.ID() < n.Host().ID()
		if seen[lower] {
			continue
		}
		seen[lower] = true
		dialed := make(chan network.Stream, 8)
		h.SetStreamHandler(proto.GroupProtocol, func(s network.Stream) { dialed <- s })
		g, err := group.Join(t.Context(), n, group.Config{Key: [32]byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		<-dialed // and is not answered
		_, m := open(t, h, n, frame(t, helloOf("Z")))
		bye, rejected := m.(*proto.Goodbye)
		if rejected == lower || rejected && bye.Code != proto.CodeDuplicate {
			t.Errorf("the peer's id is lower: %t, the answer %+v", lower, m)
		}
		g.Close()
	}
}

// A member whose stream is rejected as a duplicate waits before it opens another one.
func TestPauseAfterDuplicate(t *testing.T) {
	h := peertest.Stranger(t)
	n := trackerOf(t, h.ID(), h.Addrs()).Start(t, "A")
	var dials atomic.Int64
	h.SetStreamHandler(proto.GroupProtocol, func(s network.Stream) {
		dials.Add(1)
		_ = proto.WriteMessage(s, &proto.Goodbye{Code: proto.CodeDuplicate})
		_ = s.Close()
	})
	start := time.Now()
	g, err := group.Join(t.Context(), n, group.Config{Key: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := g.Send(ctx, h.ID(), nil); err == nil {
		t.Error("the message was sent")
	}
	if all, most := dials.Load(), int64(time.Since(start)/(500*time.Millisecond))+2; all > most {
		t.Errorf("%d dials, at most %d", all, most)
	}
}

// One failed dial does not mean that a member cannot be reached: both may have dialed at the same time.
func TestSendAfterFailedDials(t *testing.T) {
	h := peertest.Stranger(t)
	n := trackerOf(t, h.ID(), h.Addrs()).Start(t, "A")
	var dials atomic.Int64
	h.SetStreamHandler(proto.GroupProtocol, func(s network.Stream) {
		if dials.Add(1) < 3 {
			_ = s.Reset()
			return
		}
		_, _ = s.Write(append(frame(t, helloOf("Z")), parcel(h, 5, "")...))
	})
	g, err := group.Join(t.Context(), n, group.Config{Key: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for len(g.Members()) == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), peertest.WaitTimeout)
	defer cancel()
	if err := g.Send(ctx, h.ID(), []byte("message")); err != nil {
		t.Error(err)
	}
}
