package feed_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// host is a node with feeds.
type host struct {
	t     *testing.T
	node  *peer.Node
	feeds *feed.Feeds
	data  string
	ran   chan feed.Version // with each command
	log   peertest.Recorder
}

// start starts a node with the feeds of its data directory.
func start(t *testing.T, d *peertest.Tracker, cluster, data string) *host {
	t.Helper()
	h := &host{t: t, node: d.Start(t, cluster, peertest.Data(data)), data: data, ran: make(chan feed.Version, 100)}
	run := func(_ context.Context, _ string, v feed.Version) error {
		h.ran <- v
		return nil
	}
	var err error
	if h.feeds, err = feed.Open(h.node, data, run, slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &h.log), nil))); err != nil {
		t.Fatal(err)
	}
	h.feeds.StartAll()
	t.Cleanup(h.feeds.Close)
	return h
}

// stop ends the node.
func (h *host) stop() {
	h.t.Helper()
	h.feeds.Close()
	if err := h.node.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// newFeed makes a feed.
func (h *host) newFeed(name string) string {
	h.t.Helper()
	l := &feed.Link{Trackers: []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/1/p2p/12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN")}}
	if err := h.feeds.New(name, l); err != nil {
		h.t.Fatal(err)
	}
	return l.String()
}

// post seeds a path, and publishes it.
func (h *host) post(name, path string) *feed.Head {
	h.t.Helper()
	v, err := h.node.Seed(h.t.Context(), path, peer.SeedOptions{})
	if err == nil {
		err = v.Wait(h.t.Context())
	}
	if err != nil {
		h.t.Fatal(err)
	}
	head, err := h.feeds.Post(h.t.Context(), name, v, feed.PublishOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	return head
}

// follow follows a feed, and returns the directory of its versions.
func (h *host) follow(link string, keep int) (dir string) {
	h.t.Helper()
	dir = filepath.Join(h.t.TempDir(), "versions")
	if err := h.feeds.Follow(feed.Settings{Link: link, Dir: dir, Keep: keep, Exec: "true"}); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// await waits until the command was run with a version, and returns that.
func (h *host) await(seq uint64) feed.Version {
	h.t.Helper()
	for {
		select {
		case v := <-h.ran:
			if v.Seq == seq {
				return v
			}
		case <-time.After(peertest.WaitTimeout):
			h.t.Fatalf("version %d is not complete in time: %+v", seq, h.feeds.All())
		}
	}
}

// many adds files, so that the manifest is too long for a head.
func many(large []byte) map[string][]byte {
	files := map[string][]byte{"large": large}
	for i := range 1000 {
		files[fmt.Sprintf("file %d", i)] = []byte{byte(i)}
	}
	return files
}

// settled waits until old versions are removed.
func (h *host) settled(seq uint64) {
	h.t.Helper()
	peertest.Eventually(h.t, "old versions are removed", func() bool { return h.feeds.All()[0].Complete == seq })
}

// write writes files, and returns the path of their directory.
func write(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "content")
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// equal checks the files of a version.
func equal(t *testing.T, path string, files map[string][]byte) {
	t.Helper()
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(path, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of %s: %d bytes, %v", name, path, len(got), err)
		}
	}
}
