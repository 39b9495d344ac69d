package group_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"net"
	"testing"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// next returns the next message that is not the end of a session.
func next(t *testing.T, g *group.Group) group.Message {
	t.Helper()
	for {
		if m := receive(t, g); !m.Left {
			return m
		}
	}
}

// A message reaches the members of a cluster though the relays of its parts are lost, one after the other.
func TestLostRelaysAreReplaced(t *testing.T) {
	nodes := peertest.Clusters(t, 2, 4)
	groups := join(t, nodes)
	lost := map[libpeer.ID]bool{}
	for round := range 3 {
		// The relay of the first part has the lowest peer id.
		var relay *peer.Node
		for _, n := range nodes[4:] {
			if !lost[n.Host().ID()] && (relay == nil || n.Host().ID() < relay.Host().ID()) {
				relay = n
			}
		}
		message := bytes.Repeat([]byte{byte(round)}, 40_000)
		if err := groups[0].Cast(t.Context(), message); err != nil {
			t.Fatal(err)
		}
		lost[relay.Host().ID()] = true
		if err := relay.Host().Close(); err != nil {
			t.Fatal(err)
		}
		for i, g := range groups[4:] {
			if lost[nodes[4+i].Host().ID()] {
				continue
			}
			if m := next(t, g); !bytes.Equal(m.Bytes, message) {
				t.Fatalf("round %d: %d bytes", round, len(m.Bytes))
			}
		}
	}
}

func TestEndOfSessionIsReported(t *testing.T) {
	nodes := peertest.Clusters(t, 2, 1)
	groups := join(t, nodes)
	if err := groups[0].Send(t.Context(), nodes[1].Host().ID(), []byte("last")); err != nil {
		t.Fatal(err)
	}
	groups[0].Close()
	if m := receive(t, groups[1]); string(m.Bytes) != "last" {
		t.Errorf("%+v", m)
	}
	if m := receive(t, groups[1]); !m.Left || m.From != nodes[0].Host().ID() {
		t.Errorf("%+v", m)
	}
}

func TestNewestMessageIsSentFirst(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	var groups [2]*group.Group
	for i, n := range nodes {
		g, err := group.Join(t.Context(), n, group.Config{Key: [32]byte{1}, Newest: []byte{byte(i)}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Close)
		groups[i] = g
	}
	for i, g := range groups {
		if m := receive(t, g); len(m.Bytes) != 1 || m.Bytes[0] != byte(1-i) {
			t.Errorf("%d received %+v", i, m)
		}
	}
	nodes = peertest.Clusters(t, 1, 2)
	join(t, nodes[:1])[0].SetNewest([]byte("set"))
	if m := receive(t, join(t, nodes[1:])[0]); string(m.Bytes) != "set" {
		t.Errorf("%+v", m)
	}
}

func TestJoinTwiceFails(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 1)
	groups := join(t, nodes)
	if _, err := group.Join(t.Context(), nodes[0], group.Config{Key: [32]byte{1}}); err == nil {
		t.Error("the node joined a group twice")
	}
	groups[0].Close()
	g, err := group.Join(t.Context(), nodes[0], group.Config{Key: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
}

// Streams that break the protocol end, and the member goes on.
func TestHostileStreamsEnd(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	groups := join(t, nodes)
	hello := helloOf("Z")
	h := peertest.Stranger(t)
	self := proto.PeerID(h.ID())
	first := &proto.Parcel{Sender: self, Number: 5, Parts: 1, Sum: sha256.Sum256(nil)}
	for name, frames := range map[string][]byte{
		"first parcel of another sender":    proto.AppendParcel(nil, &proto.Parcel{Sender: "x", Parts: 1, Sum: sha256.Sum256(nil)}),
		"wrong hash":                        proto.AppendParcel(proto.AppendParcel(nil, first), &proto.Parcel{Sender: self, Number: 6, Parts: 1, Payload: []byte("x")}),
		"message to this node of a third":   proto.AppendParcel(proto.AppendParcel(nil, first), &proto.Parcel{Sender: "x", Number: proto.ParcelDirect, Parts: 1}),
		"message that the group has not":    frame(t, &proto.Want{}),
		"unknown type":                      {0, 0, 0, 1, 200},
		"acknowledgment of another's, then": append(append(proto.AppendParcel(nil, first), frame(t, &proto.ParcelTaken{Sender: "x", Number: 1})...), 0, 0, 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			if err := h.Connect(t.Context(), peertest.AddrInfo(nodes[0])); err != nil {
				t.Fatal(err)
			}
			s, err := h.NewStream(t.Context(), nodes[0].Host().ID(), proto.GroupProtocol)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Reset() }()
			_ = s.SetDeadline(time.Now().Add(2 * time.Minute))
			if _, err := s.Write(append(frame(t, hello), frames...)); err != nil {
				t.Fatal(err)
			}
			for {
				m, err := proto.ReadGroup(s)
				if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
					t.Fatal("the stream does not end")
				}
				if err != nil {
					break
				}
				if bye, ok := m.(*proto.Goodbye); ok {
					t.Fatalf("rejected: %+v", bye)
				}
			}
		})
	}
	if err := groups[1].Cast(t.Context(), []byte("after")); err != nil {
		t.Fatal(err)
	}
	if m := next(t, groups[0]); string(m.Bytes) != "after" {
		t.Errorf("%+v", m)
	}
}

func frame(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.AppendFrame(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestUnknownGroupIsRejected(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 1)
	h := peertest.Stranger(t)
	if err := h.Connect(t.Context(), peertest.AddrInfo(nodes[0])); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewStream(t.Context(), nodes[0].Host().ID(), proto.GroupProtocol)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(nil)
	if err := proto.WriteMessage(s, &proto.GroupHello{Key: proto.ManifestCID(sum[:]).Bytes(), Cluster: "A"}); err != nil {
		t.Fatal(err)
	}
	m, err := proto.ReadOpening(s)
	if bye, ok := m.(*proto.Goodbye); !ok || bye.Code != proto.CodeUnknownSwarm {
		t.Errorf("%+v, %v", m, err)
	}
}
