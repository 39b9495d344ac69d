package peer

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"
)

// TestManifestIsWaitedFor has a node that seeks a manifest answer who has a greater id when
// it has found it, and refuse others at once.
func TestManifestIsWaitedFor(t *testing.T) {
	seed, a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir()), startNode(t, "B", t.TempDir())
	if b.host.ID() < a.host.ID() {
		a, b = b, a
	}
	_, link, _ := seedAndLink(t, seed, 1<<20)
	key := link.Manifest.Bytes()
	want, err := seed.manifestBytes(key)
	if err != nil {
		t.Fatal(err)
	}
	link.Peers = nil // nobody is found
	mustGet(t, a, link, filepath.Join(t.TempDir(), "out"))
	mustGet(t, b, link, filepath.Join(t.TempDir(), "out"))

	start := time.Now()
	if _, err := b.manifestFor(a.host.ID(), key); err == nil || time.Since(start) > lookup/2 {
		t.Errorf("who has the lesser id gets %v after %v", err, time.Since(start))
	}
	found := time.AfterFunc(lookup/20, func() {
		tr, err := a.runs(key)
		if err == nil {
			err = tr.Description().TakeManifest(want)
		}
		if err != nil {
			t.Error(err)
		}
	})
	defer found.Stop()
	if got, err := a.manifestFor(b.host.ID(), key); err != nil || !bytes.Equal(got, want) {
		t.Errorf("who has the greater id gets %d bytes, %v", len(got), err)
	}
	if found.Stop() {
		t.Error("it did not wait")
	}
}
