package peer

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
)

// startNode runs a node on loopback for the length of a test.
func startNode(t testing.TB, cluster, data string) *Node {
	t.Helper()
	return startNodeWith(t, cluster, data, nil)
}

// startNodeWith runs a node whose tracker is d.
func startNodeWith(t testing.TB, cluster, data string, d *directory) *Node {
	t.Helper()
	level := slog.LevelWarn
	if testing.Verbose() {
		level = slog.LevelDebug
	}
	cfg := Config{Data: data, Cluster: cluster, Torrents: fakeTorrents{},
		Listen: []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")},
		Log:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("node", cluster)}
	if d != nil {
		cfg.Finder, cfg.Trackers = d.finder, []ma.Multiaddr{ma.StringCast(trackerAddr)}
	}
	n, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// randomFile makes a file of n bytes that do not repeat.
func randomFile(t testing.TB, n int) (path string, content []byte) {
	t.Helper()
	content = make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	path = filepath.Join(t.TempDir(), "content.bin")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func TestGetFromSeed(t *testing.T) {
	path, content := randomFile(t, 64<<20+12345)
	a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	seed, err := a.Seed(ctx, path, SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	link := seed.Link()
	out := filepath.Join(t.TempDir(), "copy.bin")
	get, err := b.Get(link, out, GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := get.Wait(ctx); err != nil {
		t.Fatalf("%v; status %+v", err, get.Status())
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content) {
		t.Fatal("the copy differs")
	}
	st := get.Status()
	t.Logf("%v %+v", st.Elapsed, st.Traffic)
	if st.Traffic.WANIn != int64(len(content)) || st.Duplicate != 0 {
		t.Errorf("traffic %+v, %d duplicate; want %d from the WAN once", st.Traffic, st.Duplicate, len(content))
	}
}
