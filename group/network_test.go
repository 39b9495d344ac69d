package group_test

import (
	"testing"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// In a network the members of a group need a certificate, for the cluster that they claim.
func TestGroupInNetwork(t *testing.T) {
	secret, err := membership.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	nodes := peertest.Clusters(t, 2, 1, peertest.Configure(func(c *peer.Config) { c.Network = &membership.Config{Secret: secret} }))
	groups := join(t, nodes)
	if err := groups[0].Cast(t.Context(), []byte("text")); err != nil {
		t.Fatal(err)
	}
	if m := next(t, groups[1]); string(m.Bytes) != "text" {
		t.Errorf("%+v", m)
	}
	_, m := open(t, peertest.Certified(t, secret, "C"), nodes[0], frame(t, helloOf("C")))
	if _, ok := m.(*proto.GroupHello); !ok {
		t.Errorf("with a certificate: %+v", m)
	}
	_, m = open(t, peertest.Certified(t, secret, "C"), nodes[0], frame(t, helloOf("A")))
	if bye, ok := m.(*proto.Goodbye); !ok || bye.Code != proto.CodeExcluded {
		t.Errorf("with a certificate for another cluster: %+v", m)
	}
	h := peertest.Stranger(t)
	if err := h.Connect(t.Context(), peertest.AddrInfo(nodes[0])); err != nil {
		return // it is not even connected
	}
	s, err := h.NewStream(t.Context(), nodes[0].Host().ID(), proto.GroupProtocol)
	if err != nil {
		return
	}
	_, _ = s.Write(frame(t, helloOf("A")))
	if m, err := proto.ReadOpening(s); err == nil {
		if bye, ok := m.(*proto.Goodbye); !ok || bye.Code != proto.CodeNoMember {
			t.Errorf("without a certificate: %+v", m)
		}
	}
}
