package daemon

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/mobgrid/mob/cli/clitest"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestPublicNodePage checks that the page of a node shows content ids, also in limits, only to a client with
// the token, and addresses to none.
func TestPublicNodePage(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	seed, _, _ := peertest.SeedRandom(t, n, 1<<20, peer.SeedOptions{})
	seed.SetLimits(limit.Limits{WANUp: 1e6})
	id, short := seed.ID.String(), seed.ShortName()
	policy := limit.NewPolicy(limit.Limits{}, nil)
	server := control.NewServer(control.Config{Node: n, Limits: policy})
	feeds, err := feed.Open(n, t.TempDir(), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	read, token := clitest.ServePage(t, func(s *web.Server) {
		d := &Daemon{node: n, server: server, feeds: feeds, health: NewHealth(n.Probe)}
		d.register(s)
	})
	for _, detail := range []string{"", id, short} {
		open, owned := read(detail, ""), read(detail, token)
		if strings.Contains(open, id) || strings.Count(open, `"`+short+`"`) != 2 {
			t.Errorf("without the token, detail %q, id %s, short name %s: %s", detail, id, short, open)
		}
		if strings.Count(owned, `"`+id+`"`) != 2 {
			t.Errorf("with the token, detail %q: %s", detail, owned)
		}
		for _, a := range n.Addrs() {
			a, _, _ := strings.Cut(a.String(), "/p2p/")
			if strings.Contains(open, a) {
				t.Errorf("the page shows the address %s: %s", a, open)
			}
		}
	}
}
