package daemon

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
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

// TestPublicNodePage checks that the page of a node shows content ids, also in limits, and paths only to a client
// with the token, and addresses to none.
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
		if dir := filepath.Dir(seed.Status().Root); strings.Contains(open, dir) || !strings.Contains(owned, dir) {
			t.Errorf("the directory %s without the token: %s with it: %s", dir, open, owned)
		}
		for _, a := range n.Addrs() {
			a, _, _ := strings.Cut(a.String(), "/p2p/")
			if strings.Contains(open, a) {
				t.Errorf("the page shows the address %s: %s", a, open)
			}
		}
	}
}

// TestPageHidesDirectories checks the paths in fields and errors of a page, of nested directories too.
func TestPageHidesDirectories(t *testing.T) {
	t.Parallel()
	p := nodePage{Transfers: []peer.Status{
		{Name: "a", Root: "/srv/a", Error: "open /srv/secret/deep/b/sub/file: permission denied"},
		{Name: "b", Root: "/srv/secret/deep/b", Error: "mkdir /srv/secret/deep: read-only file system"},
		{Name: "c", Root: "/c"},
		{Name: `"root":"x/y"`, Root: `/srv/"quo\ted" & <b>/d`},
	}, Feeds: []pageFeed{{Root: "/srv/private/weights", Error: "mkdir /srv/private/weights: not a directory"}}}
	b, err := json.Marshal(&p)
	if err != nil {
		t.Fatal(err)
	}
	got := hideDirectories(string(b))
	var public nodePage
	if err := json.Unmarshal([]byte(got), &public); err != nil {
		t.Fatal(err)
	}
	want := [][2]string{
		{"…/a", "open …/b/sub/file: permission denied"}, {"…/b", "mkdir …: read-only file system"}, {"/c", ""}, {"…/d", ""},
	}
	for i, tr := range public.Transfers {
		if tr.Root != want[i][0] || tr.Error != want[i][1] || tr.Name != p.Transfers[i].Name {
			t.Errorf("transfer %d: path %q, error %q, name %q", i, tr.Root, tr.Error, tr.Name)
		}
	}
	if f := public.Feeds[0]; f.Root != "…/weights" || f.Error != "mkdir …/weights: not a directory" {
		t.Errorf("feed %+v", f)
	}
}
