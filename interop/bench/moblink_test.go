package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// Every stock client accepts the link that mob seed --torrent prints, and downloads the
// content by it from a stock seed of the same torrent. The order of the link's parameters
// is what clients need: see docs/design. mob's tracker, the only one, counts all of them as
// complete in the end, except rTorrent, which does not announce that.
func TestClientsTakeMobLinks(t *testing.T) {
	t.Parallel()
	needsGrid(t)
	tracker := func() *stock.Tracker { return mobTracker(bin(t)) }
	eachBitTorrent(t, tracker, func(t *testing.T, b BitTorrent) {
		if b.Name() == "transmission" {
			if _, err := exec.LookPath("transmission-cli"); err != nil {
				t.Skip(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		site := newSite(t, 1e6)
		tr := prepareSwarm(ctx, t, b, site)
		link, file := mobSeed(ctx, t, site.Content, tr.torrent.Announce)
		if written, err := os.ReadFile(file); err != nil || !bytes.Contains(written, tr.torrent.InfoBytes) {
			t.Fatalf("mob's info dictionary differs from this test's: %v", err)
		}
		for _, n := range site.Receivers {
			i, err := b.Client.New(stock.Config{Node: n, Dir: t.TempDir(), Torrent: link, Name: filepath.Base(site.Content)})
			if err != nil {
				t.Fatal(err)
			}
			tr.receivers[n] = i
		}
		if err := tr.Fetch(ctx, func(*netns.Node) {}); err != nil {
			t.Fatal(err)
		}
		for _, n := range site.Receivers {
			mustEqual(t, site.Content, tr.Copy(n))
		}
		members := 1 + len(site.Receivers)
		want := stock.Scrape{Complete: members, Downloaded: members - 1}
		if b.Name() == "rtorrent" {
			want = stock.Scrape{Complete: 1, Incomplete: members - 1}
		}
		for {
			got, err := tr.tracker.Scrape()
			if got == want {
				return
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				t.Fatalf("the tracker counts %+v, %v; want %+v", got, err, want)
			}
		}
	})
}

// mobTracker is mob tracker, with the program in the directory bin.
func mobTracker(bin string) *stock.Tracker {
	return &stock.Tracker{
		Name: "mob",
		Command: func(node *netns.Node, dir, list string) (*exec.Cmd, error) {
			return exec.Command(filepath.Join(bin, "mob"), "--data", dir, "--log-level", "debug", "tracker",
				"--listen", fmt.Sprintf("/ip4/%v/tcp/0", node.IP),
				"--bt-listen", fmt.Sprintf("%v:%d", node.IP, stock.TrackerPort), "--torrents", list), nil
		},
	}
}

// mobSeed runs mob seed with an announce URL, and returns the link that it prints and the
// torrent file that it writes.
func mobSeed(ctx context.Context, t *testing.T, content, announce string) (link, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "mob.torrent")
	cmd := exec.CommandContext(ctx, filepath.Join(bin(t), "mob"), "--data", t.TempDir(), "seed", content,
		"--listen", "/ip4/127.0.0.1/tcp/0", "--torrent-file", file, "--bt-tracker", announce)
	out := &firstLine{ended: make(chan struct{})}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // interrupted
	}()
	select {
	case <-out.ended:
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	}
	return out.text, file
}

// firstLine keeps the first line that is written to it.
type firstLine struct {
	buf   bytes.Buffer
	text  string
	ended chan struct{} // closed when text is set
}

func (l *firstLine) Write(p []byte) (int, error) {
	if l.text != "" {
		return len(p), nil
	}
	l.buf.Write(p)
	if line, _, ok := bytes.Cut(l.buf.Bytes(), []byte("\n")); ok {
		l.text = string(line)
		close(l.ended)
	}
	return len(p), nil
}
