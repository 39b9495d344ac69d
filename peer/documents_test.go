package peer_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestManifestWait requests a manifest from a node that is still seeking it. A node with a greater
// id gets it once it is known, other nodes get an error immediately.
func TestManifestWait(t *testing.T) {
	t.Parallel()
	seed, a, b := peertest.Start(t, "A"), peertest.Start(t, "B"), peertest.Start(t, "B")
	if b.Host().ID() < a.Host().ID() {
		a, b = b, a
	}
	_, link, _ := peertest.SeedRandom(t, seed, 1<<20, peer.SeedOptions{})
	key := link.Manifest.Bytes()
	want, err := seed.ManifestBytes(key)
	if err != nil {
		t.Fatal(err)
	}
	link.Peers = nil // no peer is found
	seeking := peertest.Get(t, a, link, filepath.Join(t.TempDir(), "out"))
	peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))

	answered := make(chan error, 1)
	begun := time.Now()
	go func() {
		got, err := a.ManifestFor(b.Host().ID(), key)
		if err == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, not the manifest", len(got))
		}
		answered <- err
	}()
	if _, err := b.ManifestFor(a.Host().ID(), key); err == nil {
		t.Error("the node with the lesser id gets a manifest that is not known")
	}
	refused := time.Since(begun)
	select {
	case err := <-answered:
		t.Errorf("the node with the greater id gets a reply before the manifest is known: %v", err)
	default:
	}
	if err := seeking.Description().SetManifest(want); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the node with the greater id: %v; the other node got an error after %v", err, refused)
	}
}
