package peer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// TestChangedSeed changes a byte of a file that is seeded: the source detects that and does not offer
// the piece any more.
func TestChangedSeed(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	path, content := peertest.RandomFile(t, 4<<20)
	seed, err := a.Seed(context.Background(), path, peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The size and the time stay: only the hash differs.
	content[1<<20] ^= 1
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, content, 0o644), os.Chtimes(path, fi.ModTime(), fi.ModTime())); err != nil {
		t.Fatal(err)
	}
	link := seed.Link()
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "the source to notice", func() bool { return seed.Status().Damaged > 0 })
	peertest.Eventually(t, "the rest to arrive", func() bool {
		st := get.Status()
		return st.Pieces > 0 && st.PiecesHave == st.Pieces-1
	})
	if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
		t.Error("the user's file was touched")
	}
	peertest.Eventually(t, "word of what it waits for", func() bool {
		return strings.Contains(get.Status().Waiting, "missing piece")
	})
}

// TestSeedCodedErrors seeds with options that are mutually exclusive or do not suit the content.
func TestSeedCodedErrors(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A", withTorrents)
	path, _ := peertest.RandomFile(t, 1<<20)
	for _, tt := range []struct {
		opt  peer.SeedOptions
		want string
	}{
		{peer.SeedOptions{Coded: 1}, "want 2 to 255"},
		{peer.SeedOptions{Coded: 256}, "want 2 to 255"},
		{peer.SeedOptions{Coded: 3, PieceLength: 512 << 10}, "take a multiple of 2"},
		{peer.SeedOptions{Coded: 16, Torrent: true}, "cannot be offered to BitTorrent clients"},
	} {
		if _, err := n.Seed(context.Background(), path, tt.opt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q in it", tt.opt, err, tt.want)
		}
	}
	if len(n.Transfers()) != 0 {
		t.Error("a rejected seed left a transfer")
	}
	seed, err := n.Seed(context.Background(), path, peer.SeedOptions{Coded: peer.CodedAuto})
	if err != nil {
		t.Fatal(err)
	}
	if k := seed.Status().Coded; k < 8 || k > 64 {
		t.Errorf("k %d was chosen", k)
	}
	// Nor is it offered to BitTorrent clients by a second call.
	_, err = n.Seed(context.Background(), path, peer.SeedOptions{Torrent: true, PieceLength: proto.MinCodedBlock})
	if err == nil || !strings.Contains(err.Error(), "cannot be offered to BitTorrent clients") {
		t.Errorf("seeded coded and as a torrent: %v", err)
	}
	if _, err := seed.Attach(); err == nil {
		t.Error("a coded transfer takes external peers")
	}
}

// TestPathNotUTF8 checks that a seed and a get with a path that records cannot contain fail.
func TestPathNotUTF8(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	path := filepath.Join(t.TempDir(), "a\xff")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Skip(err) // macOS
	}
	if _, err := n.Seed(t.Context(), path, peer.SeedOptions{}); err == nil || !strings.Contains(err.Error(), "not valid UTF-8") {
		t.Errorf("seed: %v", err)
	}
	other := peertest.Start(t, "B")
	content := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(content, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := n.Seed(t.Context(), content, peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Get(s.Link(), path+"b", peer.GetOptions{}); err == nil || !strings.Contains(err.Error(), "not valid UTF-8") {
		t.Errorf("get: %v", err)
	}
}

// TestSeedDataDirectory refuses to seed the node's key.
func TestSeedDataDirectory(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	data, link := filepath.Join(above, "data"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Mkdir(data, 0o700), os.Symlink(above, link)); err != nil {
		t.Fatal(err)
	}
	n := peertest.Start(t, "A", peertest.Data(data))
	for name, path := range map[string]string{
		"itself":      data,
		"above":       above,
		"below":       filepath.Join(data, "transfers"),
		"the key":     filepath.Join(data, "key"),
		"by a link":   link,
		"by two dots": filepath.Join(data, "transfers", "..", ".."),
	} {
		if _, err := n.Seed(t.Context(), path, peer.SeedOptions{}); err == nil || !strings.Contains(err.Error(), "data directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(data, "key"), filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Seed(t.Context(), dir, peer.SeedOptions{FollowLinks: true}); err == nil || !strings.Contains(err.Error(), "data directory") {
		t.Errorf("by a link that is followed: %v", err)
	}
	beside := filepath.Join(above, "beside")
	if err := os.WriteFile(beside, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Seed(t.Context(), beside, peer.SeedOptions{}); err != nil {
		t.Error(err)
	}
}

// Two calls seed the same path at the same time: both succeed.
func TestSeedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	for range 50 {
		path, _ := peertest.RandomFile(t, 1000)
		failed := make(chan error)
		for range 2 {
			go func() {
				_, err := n.Seed(t.Context(), path, peer.SeedOptions{})
				failed <- err
			}()
		}
		for range 2 {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
	}
}
