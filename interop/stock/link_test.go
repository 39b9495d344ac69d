package stock

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anacrolix/torrent/bencode"

	"github.com/mobgrid/mob/interop/netns"
)

// Every stock client takes the link that mob seed --torrent prints, and gets the
// content by it: from a stock seed that has the torrent file of the same command. The
// order of the link's parameters is what they need, see docs/design.
func TestClientsTakeMobLinks(t *testing.T) {
	forEach(t, All(), func(t *testing.T, c *Client) {
		if c.Name() == "transmission" {
			if _, err := exec.LookPath("transmission-cli"); err != nil {
				t.Skip(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		site := newSite(t, 1e6)
		tr := prepare(ctx, t, c.With(MobTracker(bin, "http")), site).(*swarm)
		link, file := mobSeed(ctx, t, site.Content, tr.torrent.announce)
		if written, err := os.ReadFile(file); err != nil || !bytes.Contains(written, bencode.MustMarshal(tr.torrent.info())) {
			t.Fatalf("mob's info dictionary is another than this test's: %v", err)
		}
		for _, m := range tr.receivers {
			m.seat.torrent = link
		}
		if err := tr.Fetch(ctx, func(*netns.Node) {}); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(site.Content)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range site.Receivers {
			if got, err := os.ReadFile(tr.Copy(n)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s has %d bytes, %v", seatName(n), len(got), err)
			}
		}
	})
}

// mobSeed returns the link that mob prints for a content with an announce URL, and the
// torrent file that it writes.
func mobSeed(ctx context.Context, t *testing.T, content, announce string) (link, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "mob.torrent")
	out := new(line)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "mob"), "--data", t.TempDir(), "seed", content,
		"--listen", "/ip4/127.0.0.1/tcp/0", "--torrent-file", file, "--bt-tracker", announce)
	out.end = make(chan struct{})
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // interrupted
	}()
	select {
	case <-out.end:
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	}
	return strings.TrimSpace(out.text.String()), file
}

// line is written to until a line is whole.
type line struct {
	text bytes.Buffer
	end  chan struct{}
}

func (l *line) Write(p []byte) (int, error) {
	if !bytes.Contains(l.text.Bytes(), []byte("\n")) {
		l.text.Write(p)
		if bytes.Contains(p, []byte("\n")) {
			close(l.end)
		}
	}
	return len(p), nil
}
