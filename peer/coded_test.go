package peer_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

func TestCodedResume(t *testing.T) {
	tracker := peertest.NewTracker()
	a := tracker.Start(t, "A")
	_, link, content := peertest.SeedRandom(t, a, 128<<20, peer.SeedOptions{Coded: 16})
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := tracker.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, b, link, out)
	peertest.Eventually(t, "some pieces", func() bool { return get.Status().PiecesHave > 40 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	had := get.Status().PiecesHave
	b = tracker.Start(t, "B", peertest.Data(data))
	get, err := b.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	st := get.Status()
	// What is verified of a generation is not fetched again; what was in memory is.
	lacked := int64(st.Pieces-had) * int64(st.PieceLength)
	if slack := int64(1 << 20); st.Traffic.WANIn > lacked+slack {
		t.Errorf("%d bytes came after the restart, and %d were lacking", st.Traffic.WANIn, lacked)
	}
	t.Logf("%d of %d pieces were there; then %+v", had, st.Pieces, st.Traffic)
}

func TestSeedCodedErrors(t *testing.T) {
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
		t.Error("a refused seed left a transfer")
	}
	seed, err := n.Seed(context.Background(), path, peer.SeedOptions{Coded: peer.CodedAuto})
	if err != nil {
		t.Fatal(err)
	}
	if k := seed.Status().Coded; k < 8 || k > 64 {
		t.Errorf("k %d was chosen", k)
	}
	// Nor is it offered to BitTorrent clients by a second call.
	_, err = n.Seed(context.Background(), path, peer.SeedOptions{Torrent: true})
	if err == nil || !strings.Contains(err.Error(), "cannot be offered to BitTorrent clients") {
		t.Errorf("seeded coded and as a torrent: %v", err)
	}
	if _, err := seed.Attach(); err == nil {
		t.Error("a coded transfer takes external peers")
	}
}
