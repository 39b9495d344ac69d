package peer_test

import (
	"crypto/rand"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

func newSecret(t *testing.T) *membership.Secret {
	t.Helper()
	s, err := membership.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inNetwork has a node hold the secret of a network. Its clock is ahead.
func inNetwork(secret *membership.Secret, ahead time.Duration) peertest.Option {
	return peertest.Configure(func(c *peer.Config) {
		c.Network = &membership.Config{Secret: secret, Now: func() time.Time { return time.Now().Add(ahead) }}
	})
}

// TestRejectionByUnnamedPeer: the only node that a tracker names rejects a get, like a member of a network. The get waits for
// another node.
func TestRejectionByUnnamedPeer(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	path, content := peertest.RandomFile(t, 1<<20)
	_, link := peertest.Seed(t, tracker.Start(t, "A", inNetwork(newSecret(t), 0)), path, peer.SeedOptions{})
	link.Peers = nil
	get := peertest.Get(t, tracker.Start(t, "B"), link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "the rejection", func() bool {
		return strings.Contains(get.Status().Waiting, "accepts only members of its network")
	})
	peertest.Seed(t, tracker.Start(t, "C"), path, peer.SeedOptions{})
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
}

// TestRevokedInTheMiddle revokes one of two nodes during a transfer, over bulk sockets. Its
// sessions end, the sessions of the other node continue, and it is rejected after a restart of the source.
func TestRevokedInTheMiddle(t *testing.T) {
	t.Parallel()
	secret, gate, data := newSecret(t), peertest.NewGate(6<<20), t.TempDir()
	tracker := peertest.NewTracker()
	a := tracker.Start(t, "A", inNetwork(secret, 0), peertest.WithGate(gate), peertest.Data(data))
	b := tracker.Start(t, "B", inNetwork(secret, 0))
	c := tracker.Start(t, "C", inNetwork(secret, 0))
	seed, link, content := peertest.SeedRandom(t, a, 24<<20, peer.SeedOptions{})
	out := filepath.Join(t.TempDir(), "out")
	revoked := peertest.Get(t, c, link, out)
	peertest.Eventually(t, "all that passes the gate at the node to be revoked", func() bool { return revoked.Status().Traffic.WANIn == 6<<20 })
	good := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "sessions", func() bool { return seed.Status().Connected == 2 && good.Status().Connected == 2 })

	list, err := secret.Revoke(nil, time.Now(), c.Host().ID())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Membership().Adopt(list); err != nil { // the source learns it from b
		t.Fatal(err)
	}
	peertest.Eventually(t, "the end of its sessions", func() bool { return revoked.Status().Connected == 0 })
	had := revoked.Status().Traffic.WANIn
	gate.Open()
	peertest.Wait(t, good)
	peertest.WaitEqual(t, []*peer.Transfer{good}, content)
	if st := revoked.Status(); st.Traffic.WANIn != had || st.Connected != 0 {
		t.Errorf("the revoked node received %d bytes, and %d before; %d peers", st.Traffic.WANIn, had, st.Connected)
	}
	peertest.Eventually(t, "word of why", func() bool {
		return strings.Contains(revoked.Status().Waiting, "the certificate was revoked")
	})
	if why := c.Membership().Rejection(); why != "the certificate was revoked" {
		t.Errorf("reason %q", why)
	}

	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	again := tracker.Start(t, "A", inNetwork(secret, 0), peertest.Data(data))
	if again.Membership().Lists().Serial() != list.Serial {
		t.Error("the list was forgotten")
	}
	peertest.Eventually(t, "a rejection after a restart", func() bool { // it may be connected, and not rejected yet
		err := c.Host().Connect(t.Context(), peertest.AddrInfo(again))
		return err != nil && strings.Contains(err.Error(), "was revoked")
	})
}

// TestClockSkew starts nodes whose clocks differ. Two hours work, three do not.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ahead  time.Duration
		admits bool
	}{
		"two hours ahead":    {2 * time.Hour, true},
		"two hours behind":   {-2 * time.Hour, true},
		"three hours ahead":  {3 * time.Hour, false},
		"three hours behind": {-3 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := newSecret(t)
			a, b := peertest.Start(t, "A", inNetwork(secret, 0)), peertest.Start(t, "B", inNetwork(secret, tt.ahead))
			_, link, content := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
			get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
			if tt.admits {
				peertest.WaitEqual(t, []*peer.Transfer{get}, content)
				return
			}
			waitsFor(t, get, "is not valid before")
		})
	}
}

// newIdentity returns a new key and its peer ID.
func newIdentity(t *testing.T) (crypto.PrivKey, libpeer.ID) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := libpeer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, id
}

// TestClusterNeedsCertificate starts a member with a certificate for cluster B that joins as one of A.
func TestClusterNeedsCertificate(t *testing.T) {
	t.Parallel()
	secret := newSecret(t)
	a := peertest.Start(t, "A", inNetwork(secret, 0))
	_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	for _, c := range []struct {
		proved, cluster string
		admits          bool
	}{
		{"B", "A", false}, {"B", "B", true}, {"B", "B/1", false},
		{"B/1", "B/1", true}, {"B/1", "B/2", false}, {"B/1", "B", false}, {"B/1", "B/1/x", false},
	} {
		cluster, admits := c.cluster, c.admits
		h := peertest.Certified(t, secret, c.proved)
		if err := h.Connect(t.Context(), peertest.AddrInfo(a)); err != nil {
			t.Fatal(err)
		}
		s, err := h.NewStream(t.Context(), a.Host().ID(), proto.ControlProtocol)
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.WriteMessage(s, &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: cluster}); err != nil {
			t.Fatal(err)
		}
		m, err := proto.ReadMessage(s)
		if err != nil {
			t.Fatal(err)
		}
		if bye, ok := m.(*proto.Goodbye); ok == admits || ok && (bye.Code != proto.CodeExcluded ||
			bye.Text != "the node claims the cluster "+cluster+", and its certificate is for "+c.proved) {
			t.Errorf("cluster %s for %s: %+v", cluster, c.proved, m)
		}
	}

	// It is dialed.
	h := peertest.Certified(t, secret, "B")
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) }) // it is dialed again
	h.SetStreamHandler(proto.ControlProtocol, func(s network.Stream) {
		m, err := proto.ReadMessage(s)
		if hello, ok := m.(*proto.Hello); ok {
			_ = proto.WriteMessage(s, &proto.Hello{Swarm: hello.Swarm, Cluster: "A"})
			m, err = proto.ReadMessage(s)
		}
		if err == nil {
			t.Errorf("it was sent %+v", m)
		}
		end()
	})
	lie := *link
	lie.Peers = peertest.LinkAddrs(t, h)
	b := peertest.Start(t, "C", inNetwork(secret, 0))
	h.SetStreamHandler(proto.ManifestProtocol, forward(t, a))
	peertest.Get(t, b, &lie, filepath.Join(t.TempDir(), "out"))
	<-ended
}

// forward answers streams of the manifest protocol with the replies of a node.
func forward(t *testing.T, to *peer.Node) network.StreamHandler {
	return func(s network.Stream) {
		defer s.Close()
		request, err := proto.ReadMessage(s)
		if err != nil {
			return
		}
		b := to.ManifestBytes(request.(*proto.ManifestRequest).Swarm)
		if b == nil {
			t.Error("the node has no manifest")
			return
		}
		_ = proto.WriteMessage(s, &proto.ManifestReply{Length: uint32(len(b))})
		_, _ = s.Write(b)
	}
}

// TestNonMemberGetsNothing sends all requests to a node of a network from a non-member with the link. No
// reply contains a byte of the content, or its name, size or cluster.
func TestNonMemberGetsNothing(t *testing.T) {
	t.Parallel()
	a := peertest.Start(t, "geneva", inNetwork(newSecret(t), 0))
	path, _ := peertest.RandomFile(t, 1<<20)
	_, link := peertest.Seed(t, a, path, peer.SeedOptions{})
	h := peertest.Stranger(t)
	if err := h.Connect(t.Context(), peertest.AddrInfo(a)); err != nil {
		t.Fatal(err)
	}
	swarm := link.Manifest.Bytes()
	for id, request := range map[protocol.ID]proto.Message{
		proto.ControlProtocol:  &proto.Hello{Swarm: swarm, Cluster: "geneva"},
		proto.ManifestProtocol: &proto.ManifestRequest{Swarm: swarm},
		proto.TorrentProtocol:  &proto.ManifestRequest{Swarm: swarm},
		proto.BulkProtocol:     &proto.BulkHello{Swarm: swarm},
	} {
		s, err := h.NewStream(t.Context(), a.Host().ID(), id)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.SetDeadline(time.Now().Add(peertest.WaitTimeout))
		if err := proto.WriteMessage(s, request); err != nil {
			t.Fatal(err)
		}
		m, err := proto.ReadMessage(s)
		if id == proto.BulkProtocol {
			if err == nil {
				t.Errorf("%s: answer %+v", id, m)
			}
			continue
		}
		bye, ok := m.(*proto.Goodbye)
		if !ok || bye.Code != proto.CodeNoMember || strings.Contains(bye.Text, "geneva") {
			t.Errorf("%s: answer %+v, %v", id, m, err)
		}
		if m, err := proto.ReadMessage(s); err == nil {
			t.Errorf("%s: then %+v", id, m)
		}
	}

	// A node without a network fails immediately, and names the missing network.
	b := peertest.Start(t, "geneva")
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	err := get.Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), "accepts only members of its network: give --network and --certificate") {
		t.Errorf("error %v", err)
	}
}
