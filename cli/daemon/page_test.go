package daemon

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
)

// servePage serves a page on a loopback address, and returns a function that reads an event of it. token is sent
// unless it is empty.
func servePage(t *testing.T, register func(*web.Server)) (read func(detail, token string) string, token string) {
	t.Helper()
	s, err := web.Listen(web.Config{Listen: "127.0.0.1:0", Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	register(s)
	go func() { _ = s.Serve() }()
	t.Cleanup(func() { s.Close() })
	b, err := os.ReadFile(s.TokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return func(detail, token string) string {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"events?detail="+url.QueryEscape(detail), nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewReader(resp.Body)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(line, `data: {"id"`) {
				return line
			}
		}
	}, strings.TrimSpace(string(b))
}

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
	read, token := servePage(t, func(s *web.Server) {
		d := &Daemon{node: n, server: server, health: NewHealth(n.Probe)}
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
