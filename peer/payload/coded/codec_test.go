package coded

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// A link may ask for a coding that does not exist.
func TestCodingErrors(t *testing.T) {
	whole := storetest.Make(t, 1, storetest.File("", 1<<20)).Manifest
	torrent := storetest.MakeTorrent(t, 1, storetest.Untimed(storetest.File("", 1<<20))...).Manifest
	for name, tt := range map[string]struct {
		m    *proto.Manifest
		link proto.Link
		want string
	}{
		"a torrent":                 {torrent, proto.Link{Coded: 16}, "use one without x.rlnc"},
		"gossip of a torrent":       {torrent, proto.Link{Coded: 4, Strategy: proto.Sequential}, "use one without x.gossip"},
		"k = 1":                     {whole, proto.Link{Coded: 1}, "want 2 to 255"},
		"k = 256":                   {whole, proto.Link{Coded: 256}, "want 2 to 255"},
		"k = 255":                   {whole, proto.Link{Coded: 255}, ""},
		"plain pieces of a torrent": {torrent, proto.Link{}, ""},
	} {
		c, err := CodingOf(&tt.link, tt.m)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", name, err, tt.want)
		}
		if err == nil && (c.K != tt.link.Coded || c.Strategy != tt.link.Strategy) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// Only an Ed25519 key can sign blocks.
func TestKeyErrors(t *testing.T) {
	ed, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecdsa, _, err := crypto.GenerateECDSAKeyPair(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m := storetest.Make(t, 1, storetest.File("", 1<<20)).Manifest
	coding, err := proto.NewCoding(m, 16)
	if err != nil {
		t.Fatal(err)
	}
	cfg := payload.Config{Swarm: struct{ payload.Swarm }{}, Verifier: store.NewVerifier(m)}
	if _, err := New(cfg, coding, nil, ed); err != nil {
		t.Error(err)
	}
	if _, err := New(cfg, coding, nil, ecdsa); err == nil || !strings.Contains(err.Error(), "not Ed25519") {
		t.Errorf("an ECDSA key: %v", err)
	}
}

func TestPeerOf(t *testing.T) {
	_, key, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := libpeer.IDFromPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := key.Raw()
	if err != nil {
		t.Fatal(err)
	}
	if got := peerOf(publicKey(raw)); got != proto.PeerID(id) {
		t.Errorf("%q, want %q", got, id)
	}
}
