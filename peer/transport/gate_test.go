package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

// TestGate opens streams between members, and between those that are not.
func TestGate(t *testing.T) {
	t.Parallel()
	secret, other := newTestSecret(t), newTestSecret(t)
	node := func(t *testing.T) host.Host { return newTestMember(t, secret, nil) }
	open := newListening
	with := func(change func(*membership.Certificate)) func(*testing.T) host.Host {
		return func(t *testing.T) host.Host { return newTestMember(t, secret, change) }
	}
	roles := func(r membership.Roles) func(*testing.T) host.Host {
		return with(func(c *membership.Certificate) { c.Roles = r })
	}
	foreign := func(t *testing.T) host.Host { return newTestMember(t, other, nil) }
	for _, tt := range []struct {
		name     string
		from, to func(*testing.T) host.Host
		protocol protocol.ID
		want     string // the error of the opener, empty for none
	}{
		{"two members", node, node, proto.ControlProtocol, ""},
		{"bulk", node, node, proto.BulkProtocol, ""},
		{"manifest", node, node, proto.ManifestProtocol, ""},
		{"open nodes", open, open, proto.ControlProtocol, ""},
		{"a non-member opens", open, node, proto.ControlProtocol, "accepts only members of its network: give --network"},
		{"a non-member asks for a manifest", open, node, proto.ManifestProtocol, "accepts only members of its network"},
		{"a non-member asks for an info dictionary", open, node, proto.TorrentProtocol, "accepts only members of its network"},
		{"a non-member asks a tracker", open, roles(membership.Track), proto.TrackerProtocol, "accepts only members of its network"},
		{"a non-member opens a bulk stream", open, node, proto.BulkProtocol, "reset"},
		{"a non-member is dialed", node, open, proto.ControlProtocol, "no certificate: does it run without --network?"},
		{"another network opens", foreign, node, proto.ControlProtocol, "rejects this node: the certificate is of another network"},
		{"another network is dialed", node, foreign, proto.ControlProtocol, "rejects this node: the certificate is of another network"},
		{"expired", with(func(c *membership.Certificate) {
			c.From, c.To = c.From.Add(-100*time.Hour), c.From.Add(-4*time.Hour)
		}), node, proto.ControlProtocol, "rejects this node: the certificate expired"},
		{"not yet valid", with(func(c *membership.Certificate) { c.From = c.From.Add(5 * time.Hour) }), node,
			proto.ControlProtocol, "rejects this node: the certificate is not valid before"},
		{"an expired node is dialed", node, with(func(c *membership.Certificate) {
			c.From, c.To = c.From.Add(-100*time.Hour), c.From.Add(-4*time.Hour)
		}), proto.ControlProtocol, "the certificate"},
		{"a tracker", node, roles(membership.Track), proto.TrackerProtocol, ""},
		{"a tracker without the role", node, node, proto.TrackerProtocol, "its certificate has the roles seed,get"},
		{"a tracker is not a node", node, roles(membership.Track), proto.ControlProtocol, "its certificate has the roles track"},
		{"a tracker opens", roles(membership.Track), node, proto.ControlProtocol, "roles track is not for nodes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			from, to := tt.from(t), tt.to(t)
			var served atomic.Int64
			serveTest(to, tt.protocol, &served)
			ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
			defer cancel()
			answer, err := request(ctx, from, to, tt.protocol)
			if tt.want == "" {
				want := "geneva"
				if tt.name == "open nodes" {
					want = "open"
				}
				if err != nil || answer != want || served.Load() != 1 {
					t.Fatalf("answer %q, %v", answer, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if served.Load() != 0 {
				t.Error("the stream was served")
			}
		})
	}
}

// TestGateBothWays opens streams from both sides of a connection concurrently.
func TestGateBothWays(t *testing.T) {
	t.Parallel()
	secret := newTestSecret(t)
	a, b := newTestMember(t, secret, nil), newTestMember(t, secret, nil)
	var served atomic.Int64
	serveTest(a, proto.ControlProtocol, &served)
	serveTest(b, proto.ControlProtocol, &served)
	// Without an exchange on it, as when a connection was dialed for something else.
	a.Peerstore().AddAddrs(b.ID(), b.Addrs(), time.Hour)
	if _, err := a.Network().DialPeer(t.Context(), b.ID()); err != nil {
		t.Fatal(err)
	}
	const each = 8
	errs := make(chan error, 2*each)
	for range each {
		go func() {
			_, err := requestConnected(t.Context(), a, b.ID(), proto.ControlProtocol)
			errs <- err
		}()
		go func() {
			for b.Network().Connectedness(a.ID()) != network.Connected {
				runtime.Gosched()
			}
			_, err := requestConnected(t.Context(), b, a.ID(), proto.ControlProtocol)
			errs <- err
		}()
	}
	for range 2 * each {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestGateCutOff cuts the exchange of credentials off when one side has accepted the other, as happens when
// it takes too long on a busy machine. Streams that follow say nothing of membership, but wait for
// another exchange.
func TestGateCutOff(t *testing.T) {
	t.Parallel()
	secret := newTestSecret(t)
	from, to := newTestMember(t, secret, nil), newTestMember(t, secret, nil)
	var served atomic.Int64
	serveTest(to, proto.ControlProtocol, &served)

	// All but the certificate of the side that opens.
	s := dialStream(t, from, to, proto.MemberProtocol)
	if err := proto.WriteMessage(s, &proto.Credential{Envelope: from.member.Grant().Pass.Envelope()}); err != nil {
		t.Fatal(err)
	}
	shown, err := readCredential(s, to.ID())
	if err != nil {
		t.Fatal(err)
	}
	cert, err := from.member.Verify(shown.Envelope, to.ID())
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Reset()
	control := dialStream(t, from, to, proto.ControlProtocol)
	if err := proto.WriteMessage(control, &proto.Goodbye{}); err != nil {
		t.Fatal(err)
	}
	if m, err := proto.ReadMessage(control); err == nil {
		t.Errorf("the member received %+v", m)
	}

	g := from.Host.(*lazyHost).gate
	g.change(control.Conn(), func(a *admitted) { a.certificate, a.failed, a.err = cert, true, errors.New("cut off") })
	answer := to.Host.(*lazyHost).gate.answer
	to.Host.(*lazyHost).mux.AddHandler(proto.MemberProtocol, func(_ protocol.ID, s io.ReadWriteCloser) error {
		time.Sleep(100 * time.Millisecond) // a stream that did not wait would be here first
		answer(s.(network.Stream))
		return nil
	})
	if _, err := requestConnected(t.Context(), from, to.ID(), proto.ControlProtocol); err != nil {
		t.Error(err)
	}
	if served.Load() != 1 {
		t.Errorf("%d streams were served", served.Load())
	}
}

// watcher records what a host sends to a protocol.
func watchBytes(h host.Host, id protocol.ID) <-chan []byte {
	got := make(chan []byte, 8)
	h.SetStreamHandler(id, func(s network.Stream) {
		_ = s.SetReadDeadline(time.Now().Add(2 * time.Second))
		b, _ := io.ReadAll(s)
		got <- b
		_ = s.Reset()
	})
	return got
}

// TestGateSendsNonMembersNothing checks that a member that dials a non-member with the protocol
// sends its pass, and not its cluster.
func TestGateSendsNonMembersNothing(t *testing.T) {
	t.Parallel()
	secret := newTestSecret(t)
	m := newTestMember(t, secret, nil)
	stranger := newListening(t)
	shown, control := watchBytes(stranger, proto.MemberProtocol), watchBytes(stranger, proto.ControlProtocol)
	_, err := request(t.Context(), m, stranger, proto.ControlProtocol)
	if err == nil {
		t.Fatal("a non-member was admitted")
	}
	if b := <-shown; len(b) == 0 || strings.Contains(string(b), "geneva") {
		t.Errorf("the non-member was shown %q", b)
	}
	select {
	case b := <-control:
		if len(b) > 0 {
			t.Errorf("the non-member was sent %q", b)
		}
	default:
	}
}

// dialStream opens a stream to another host past the gate of the host itself.
func dialStream(t *testing.T, from, to host.Host, id protocol.ID) network.Stream {
	t.Helper()
	from.Peerstore().AddAddrs(to.ID(), to.Addrs(), time.Hour)
	raw, err := from.Network().NewStream(t.Context(), to.ID())
	if err != nil {
		t.Fatal(err)
	}
	s, err := newLazyStream(raw, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGateReplay shows the credentials of another node.
func TestGateReplay(t *testing.T) {
	t.Parallel()
	secret := newTestSecret(t)
	victim, thief := newTestMember(t, secret, nil), newTestMember(t, newTestSecret(t), nil)
	to := newTestMember(t, secret, nil)
	s := dialStream(t, thief, to, proto.MemberProtocol)
	if err := proto.WriteMessage(s, &proto.Credential{Envelope: victim.member.Grant().Pass.Envelope()}); err != nil {
		t.Fatal(err)
	}
	m, err := proto.ReadMessage(s)
	bye, ok := m.(*proto.Goodbye)
	if err != nil || !ok || bye.Code != proto.CodeNoMember || bye.Text != "the certificate is of another node" {
		t.Fatalf("answer %+v, %v", m, err)
	}
}

// TestGateRevokes has a list reach members that are not connected to who got it, through those
// that are, and end the connections of who is on it.
func TestGateRevokes(t *testing.T) {
	t.Parallel()
	secret := newTestSecret(t)
	var chain []*testMember
	for range 4 {
		m := newTestMember(t, secret, nil)
		serveTest(m, proto.ControlProtocol, new(atomic.Int64))
		chain = append(chain, m)
	}
	revoked := newTestMember(t, secret, nil)
	serveTest(revoked, proto.ControlProtocol, new(atomic.Int64))
	for i := range chain[1:] {
		if _, err := request(t.Context(), chain[i], chain[i+1], proto.ControlProtocol); err != nil {
			t.Fatal(err)
		}
	}
	last := chain[len(chain)-1]
	if _, err := request(t.Context(), revoked, last, proto.ControlProtocol); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 8)
	last.Network().Notify(&network.NotifyBundle{DisconnectedF: func(_ network.Network, c network.Conn) {
		if c.RemotePeer() == revoked.ID() {
			ended <- struct{}{}
		}
	}})
	list, err := secret.Revoke(nil, time.Now(), revoked.ID())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if newer, err := chain[0].member.Adopt(list); err != nil || !newer {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(waitTimeout):
		t.Fatal("the session continues")
	}
	t.Logf("ended after %v over %d hops", time.Since(began), len(chain)-1)
	for revoked.Network().Connectedness(last.ID()) == network.Connected {
		runtime.Gosched()
	}
	_, err = request(t.Context(), revoked, last, proto.ControlProtocol)
	if err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("dialed again: %v", err)
	}
	// A member that was away learns of it when it is back.
	away := newTestMember(t, secret, nil)
	if _, err := request(t.Context(), away, last, proto.ControlProtocol); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(waitTimeout); away.member.Lists().Serial() != list.Serial; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the list was not forwarded")
		}
	}
}

// TestGateExpires ends the connection of a member whose certificate expires, and not that of
// one that renews.
func TestGateExpires(t *testing.T) {
	t.Parallel()
	secret := newTestSecret(t)
	m, renewing, expiring := newTestMember(t, secret, nil), newTestMember(t, secret, nil), newTestMember(t, secret, nil)
	for _, o := range []*testMember{renewing, expiring} {
		serveTest(o, proto.ControlProtocol, new(atomic.Int64))
		if _, err := request(t.Context(), m, o, proto.ControlProtocol); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	g, err := secret.Sign(membership.Certificate{
		Peer: renewing.ID(), Cluster: "geneva", Roles: membership.Get, From: now, To: now.Add(100 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := renewing.member.SetGrant(g); err != nil {
		t.Fatal(err)
	}
	gate := m.Host.(*lazyHost).gate
	conn := m.Network().ConnsToPeer(renewing.ID())[0]
	for gate.certificate(conn).Roles != membership.Get { // until it has arrived
		runtime.Gosched()
	}
	m.clock.Store(int64(48 * time.Hour))
	gate.closeRejected()
	if m.Network().Connectedness(expiring.ID()) == network.Connected {
		t.Error("the expired member is connected")
	}
	if m.Network().Connectedness(renewing.ID()) != network.Connected {
		t.Error("the member that renewed is not connected")
	}
}

// TestGateNonMembersCostLittle opens more streams than non-members may have.
func TestGateNonMembersCostLittle(t *testing.T) {
	t.Parallel()
	m := newTestMember(t, newTestSecret(t), nil)
	key := newKey(t)
	stranger, err := NewHost(key, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stranger.Close() })
	if err := stranger.Connect(t.Context(), peer.AddrInfo{ID: m.ID(), Addrs: m.Addrs()}); err != nil {
		t.Fatal(err)
	}
	for range 4 * maxNonMemberPeerStreams { // none sends more than its name
		s, err := stranger.NewStream(t.Context(), m.ID(), proto.MemberProtocol)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte{0}); err != nil && !errors.Is(err, network.ErrReset) {
			t.Log(err)
		}
	}
	gate := m.Host.(*lazyHost).gate
	gate.mu.Lock()
	defer gate.mu.Unlock()
	if len(gate.conns) > 1 {
		t.Errorf("%d connections are remembered", len(gate.conns))
	}
	for _, a := range gate.conns {
		if a.answering > maxNonMemberPeerStreams {
			t.Errorf("%d streams are answered", a.answering)
		}
	}
}

// TestGateGoodbyeOfNonMember checks that a non-member cannot reject a member, whose status and log would have its text.
func TestGateGoodbyeOfNonMember(t *testing.T) {
	t.Parallel()
	m := newTestMember(t, newTestSecret(t), nil)
	s := dialStream(t, newListening(t), m, proto.MemberProtocol)
	if err := proto.WriteMessage(s, notAdmitted(errors.New("a text of the non-member"))); err != nil {
		t.Fatal(err)
	}
	_ = s.SetReadDeadline(time.Now().Add(waitTimeout))
	if _, err := io.ReadAll(s); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the stream does not end")
	}
	if text := m.member.Rejection(); text != "" {
		t.Errorf("rejected: %s", text)
	}
}

// TestWarningsBounded checks that a peer that chooses the texts of warnings does not fill the log.
func TestWarningsBounded(t *testing.T) {
	var w Warnings
	warned := 0
	for i := range 1000 {
		if w.Level("a", fmt.Sprint(i)) == slog.LevelWarn {
			warned++
		}
	}
	if warned != maxTexts {
		t.Errorf("%d warnings about one peer", warned)
	}
	if w.Level("b", "0") != slog.LevelWarn || w.Level("b", "0") != slog.LevelDebug || w.Level("b", "1") != slog.LevelWarn {
		t.Error("warnings about another peer are wrong")
	}
}

// BenchmarkHandshake connects, exchanges credentials and disconnects. What that costs is the
// difference between its two cases, for both sides together.
func BenchmarkHandshake(b *testing.B) {
	for _, name := range []string{"open", "network"} {
		b.Run(name, func(b *testing.B) {
			secret := newTestSecret(b)
			hosts := make([]host.Host, 2)
			for i := range hosts {
				if name == "network" {
					hosts[i] = newTestMember(b, secret, nil)
					continue
				}
				key := newKey(b)
				h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { h.Close() })
				hosts[i] = h
			}
			serveTest(hosts[1], proto.ControlProtocol, new(atomic.Int64))
			before := cpuTime(b)
			for b.Loop() {
				if _, err := request(b.Context(), hosts[0], hosts[1], proto.ControlProtocol); err != nil {
					b.Fatal(err)
				}
				_ = hosts[0].Network().ClosePeer(hosts[1].ID())
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
