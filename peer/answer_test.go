package peer

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"
)

// TestManifestIsWaitedFor has a node that seeks a manifest answer who has a greater id when
// it has found it, and refuse others before.
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
	seeking, err := a.runs(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.runs(key); err != nil {
		t.Fatal(err)
	}

	answered := make(chan error, 1)
	begun := time.Now()
	go func() {
		got, err := a.manifestFor(b.host.ID(), key)
		if err == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes in place of the manifest", len(got))
		}
		answered <- err
	}()
	if _, err := b.manifestFor(a.host.ID(), key); err == nil {
		t.Error("who has the lesser id gets a manifest that is not there")
	}
	refused := time.Since(begun)
	select {
	case err := <-answered:
		t.Errorf("who has the greater id is answered before the manifest is there: %v", err)
	default:
	}
	if err := seeking.Description().SetManifest(want); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("who has the greater id, and waited: %v; the other was refused after %v", err, refused)
	}
}
