package network

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/clitest"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/shortname"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// TestPublicFleetPage checks that the page of a tracker shows ids only to a client with the token, and that either
// name chooses a swarm.
func TestPublicFleetPage(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	key := n.Host().Peerstore().PrivKey(n.Host().ID())
	names, err := shortname.New(key)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	server := tracker.New(h, nil)
	defer server.Close()
	read, token := clitest.ServePage(t, func(s *web.Server) { registerFleet(s, h, server, names) })
	var ids []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		seed, _ := peertest.Seed(t, n, path, peer.SeedOptions{})
		announce := &proto.Announce{Swarm: seed.ID.Bytes(), Cluster: "A", Total: 1, Have: 1}
		if _, err := server.Local().Announce(t.Context(), announce); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, seed.ID.String())
		for _, detail := range []string{seed.ID.String(), seed.ShortName()} {
			if got := read(detail, ""); !strings.Contains(got, `"swarm":"`+seed.ShortName()+`"`) {
				t.Errorf("without the token, detail %q: %s", detail, got)
			}
			if got := read(detail, token); !strings.Contains(got, `"swarm":"`+seed.ID.String()+`"`) {
				t.Errorf("with the token, detail %q: %s", detail, got)
			}
		}
	}
	open, owned := read("", ""), read("", token)
	for _, id := range ids {
		if strings.Contains(open, id) || !strings.Contains(owned, id) {
			t.Errorf("id %s without the token: %s with it: %s", id, open, owned)
		}
	}
}
