package cast

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/limit"
)

// TestSameDestination casts two files to one destination with Force. The second cast fails, and the first one is not damaged.
func TestSameDestination(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a")
	path, content := randomFile(t, "src", 4<<20)
	other := filepath.Join(t.TempDir(), "other")
	must(t, os.WriteFile(other, bytes.Repeat([]byte("x"), 4<<20), 0o600))
	cfg := g.config(path, "a")
	cfg.Dest, cfg.Force = "dst", true
	p := newPhases()
	cfg.Event = p.event
	c, err := newCaster(cfg)
	must(t, err)
	c.node.SetLimits(limitOf(16 << 10)) // it lasts until the second cast has failed
	ended := make(chan error, 1)
	go func() { ended <- c.run(t.Context()) }()
	p.await(Fetching, 0)
	await(t, "the file", func() bool { return exists(g.home("a", "dst")) })
	second := cfg
	second.Source, second.Event = other, nil
	r, err := (&testCast{Config: second}).run(t.Context())
	must(t, err)
	checkFailed(t, &r.Hosts[0], "another cast writes to dst")
	c.node.SetLimits(limit.Limits{})
	must(t, <-ended)
	must(t, c.close())
	if h := c.result().Hosts[0]; h.Phase != Done {
		t.Errorf("%+v", h)
	}
	g.checkFile(content, g.home("a", "dst"))
	g.awaitClean()
	g.checkClean()
}
