package fleet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
)

// TestSeedOfOtherBytes has the file of a stock seed change under it, after it was
// checked: what the seed sends then is not what the torrent says. It is shown out, and
// the rest comes from a seed that is honest.
func TestSeedOfOtherBytes(t *testing.T) {
	t.Parallel()
	c := stock.Aria2()
	needs(t, c)
	f, _ := withGuests(t, netns.Uniform(resumeRate, "A", "B"), 2, 1)
	o := newOffer(t, f, content(t, resumeSize), f.announce())
	bad := filepath.Join(t.TempDir(), filepath.Base(o.path))
	good, err := os.ReadFile(o.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, good, 0o600); err != nil {
		t.Fatal(err)
	}
	o.run(t, c, f.Grid.Node("A", 0), bad)
	d := f.daemon(t, f.Grid.Node("B", 0))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := make(chan error, 1)
	go func() { got <- o.get(ctx, d) }()
	d.waitFor(t, resumeSize/4)
	if err := overwrite(bad, bytes.Repeat([]byte{'x'}, len(good))); err != nil {
		t.Fatal(err)
	}
	d.awaitLog(ctx, t, "too many bad pieces")
	if st := d.mustStatus(t); st.Have == resumeSize {
		t.Fatal("whole by a seed of other bytes")
	}
	o.seed(t, c, f.Grid.Node("A", 1))
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	mustEqual(t, o.path, d.Out())
}

// overwrite changes what is in a file, in its place.
func overwrite(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(b)
	return err
}

// awaitLog waits until a daemon has logged something.
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
