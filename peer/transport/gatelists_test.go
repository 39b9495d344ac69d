package transport

import (
	"bytes"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

// TestGateListsOfTwoCopies gives the ends of a chain of members two lists of which neither has the other's
// member, the newer one first or last. Both members are rejected at all nodes.
func TestGateListsOfTwoCopies(t *testing.T) {
	t.Parallel()
	for _, newerFirst := range []bool{false, true} {
		secret := newTestSecret(t)
		var chain []*testMember
		for range 4 {
			m := newTestMember(t, secret, nil)
			serveTest(m, proto.ControlProtocol, new(atomic.Int64))
			chain = append(chain, m)
		}
		for i := range chain[1:] {
			if _, err := request(t.Context(), chain[i], chain[i+1], proto.ControlProtocol); err != nil {
				t.Fatal(err)
			}
		}
		eve, mallory := newTestMember(t, secret, nil), newTestMember(t, secret, nil)
		old, newer := revokeTest(t, secret, time.Now(), eve), revokeTest(t, secret, time.Now().Add(time.Hour), mallory)
		if newerFirst {
			old, newer = newer, old
		}
		adopt := func(m *testMember, l *membership.List) {
			if isNew, err := m.member.Adopt(l); err != nil || !isNew {
				t.Fatalf("new %v, %v", isNew, err)
			}
		}
		adopt(chain[0], old)
		waitRevoked(t, chain, old.Peers...)
		adopt(chain[len(chain)-1], newer)
		waitRevoked(t, chain, append(old.Peers, newer.Peers...)...)
	}
}

// TestGateListsToOlderVersion checks that the newest list is the first to be sent: a node of an earlier
// version has one list, and takes only a newer one.
func TestGateListsToOlderVersion(t *testing.T) {
	t.Parallel()
	secret := newTestSecret(t)
	m, older := newTestMember(t, secret, nil), newTestMember(t, secret, nil)
	lists := []*membership.List{
		revokeTest(t, secret, time.Now(), newTestMember(t, secret, nil)),
		revokeTest(t, secret, time.Now().Add(time.Hour), newTestMember(t, secret, nil)),
	}
	for _, l := range lists {
		if _, err := m.member.Adopt(l); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		serial uint64 // of the older node's list
		want   []*membership.List
	}{
		{0, []*membership.List{lists[1], lists[0]}},
		{lists[1].Serial, lists[:1]},
	} {
		older.Peerstore().AddAddrs(m.ID(), m.Addrs(), time.Hour)
		s, err := older.NewStream(t.Context(), m.ID(), proto.MemberProtocol)
		if err != nil {
			t.Fatal(err)
		}
		grant := older.member.Grant()
		for _, envelope := range [][]byte{grant.Pass.Envelope(), grant.Certificate.Envelope()} {
			if err := proto.WriteMessage(s, &proto.Credential{Envelope: envelope, Serial: tt.serial}); err != nil {
				t.Fatal(err)
			}
		}
		_ = s.CloseWrite()
		if _, err := readCredential(s, m.ID()); err != nil {
			t.Fatal(err)
		}
		for i, l := range tt.want {
			r, err := proto.ReadMessage(s)
			if err != nil || !bytes.Equal(r.(*proto.Revoked).List, l.Envelope()) {
				t.Errorf("serial %d: list %d is not the one of serial %d: %v", tt.serial, i, l.Serial, err)
			}
		}
		if r, err := proto.ReadMessage(s); err != io.EOF {
			t.Errorf("serial %d: another message %v, %v", tt.serial, r, err)
		}
	}
}

func revokeTest(t *testing.T, secret *membership.Secret, at time.Time, m *testMember) *membership.List {
	t.Helper()
	l, err := secret.Revoke(nil, at, m.ID())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// waitRevoked waits until all members have these revoked.
func waitRevoked(t *testing.T, members []*testMember, ids ...peer.ID) {
	t.Helper()
	deadline := time.Now().Add(waitTimeout)
	for _, m := range members {
		for _, id := range ids {
			for ; !m.member.Lists().Has(id); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("a list was not forwarded")
				}
			}
		}
	}
}
