package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// TestSeedOfOtherBytes changes the file of a stock seed after the seed has checked it, so
// that it sends bad pieces. The daemon must ban it, and get the rest from a good seed. The file
// changes early, on a slow link: a seed of which more pieces were good than bad is not banned.
func TestSeedOfOtherBytes(t *testing.T) {
	t.Parallel()
	c := stock.Find("aria2")
	needsClients(t, c)
	f, _ := newTorrentFleet(t, netns.Uniform(resumeRate/2, "A", "B"), 2, 1)
	to := newTorrent(t, f, randomContent(t, resumeSize), f.announceURL())
	bad := filepath.Join(t.TempDir(), filepath.Base(to.path))
	good, err := os.ReadFile(to.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, good, 0o600); err != nil {
		t.Fatal(err)
	}
	to.start(t, c, f.Grid.Node("A", 0), bad)
	d := f.startDaemon(t, f.Grid.Node("B", 0))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := make(chan error, 1)
	go func() { got <- to.get(ctx, d) }()
	d.awaitHave(t, resumeSize/16)
	if err := overwrite(bad, bytes.Repeat([]byte{'x'}, len(good))); err != nil {
		t.Fatal(err)
	}
	d.awaitLog(ctx, t, "too many bad pieces")
	if st := d.status(t); st.Have == resumeSize {
		t.Fatal("complete by a bad seed")
	}
	to.seed(t, c, f.Grid.Node("A", 1))
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	mustEqual(t, to.path, d.Out())
}

// overwrite changes the bytes of a file in place.
func overwrite(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(b)
	return err
}

// awaitLog waits until the daemon's log contains a text.
func (d *Daemon) awaitLog(ctx context.Context, t testing.TB, text string) {
	t.Helper()
	for {
		log, err := os.ReadFile(d.Log())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(log, []byte(text)) {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s does not log %q", d.Name(), text)
		}
	}
}
