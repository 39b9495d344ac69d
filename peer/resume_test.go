package peer_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestResume restarts a node halfway: it fetches only missing pieces.
func TestResume(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	gate := peertest.NewGate(6 << 20)
	a := tracker.Start(t, "A", peertest.WithGate(gate))
	_, link, content := peertest.SeedRandom(t, a, 12<<20, peer.SeedOptions{})
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := tracker.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, b, link, out)
	peertest.Eventually(t, "some pieces", func() bool { return get.Status().PiecesHave > 10 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if st := get.Status(); st.Phase != peer.Stopped {
		t.Fatalf("phase %s after the close", st.Phase)
	}
	gate.Open()
	b = tracker.Start(t, "B", peertest.Data(data))
	get, err := b.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	st := get.Status()
	t.Logf("after the restart: %+v of %d", st.Traffic, len(content))
	if st.Traffic.WANIn-st.Duplicate+10*int64(st.PieceLength) > int64(len(content)) {
		t.Errorf("%d bytes received after the restart, of %d in all", st.Traffic.WANIn, len(content))
	}
}

// TestCodedResume restarts a node during a coded transfer. Verified pieces are not fetched again,
// except blocks that were in memory.
func TestCodedResume(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	gate := peertest.NewGate(28 << 20)
	a := tracker.Start(t, "A", peertest.WithGate(gate))
	_, link, content := peertest.SeedRandom(t, a, 32<<20, peer.SeedOptions{Coded: 16})
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := tracker.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, b, link, out)
	peertest.Eventually(t, "some pieces", func() bool { return get.Status().PiecesHave > 40 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	had := get.Status().PiecesHave
	gate.Open()
	b = tracker.Start(t, "B", peertest.Data(data))
	get, err := b.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	st := get.Status()
	// What is verified of a generation is not fetched again; what was in memory is.
	missing := int64(st.Pieces-had) * int64(st.PieceLength)
	if slack := int64(1 << 20); st.Traffic.WANIn-st.Duplicate > missing+slack {
		t.Errorf("%d bytes received after the restart, and %d were missing", st.Traffic.WANIn, missing)
	}
	t.Logf("%d of %d pieces at the restart; then %+v", had, st.Pieces, st.Traffic)
}

// TestGetElsewhereAfterRestart gets a link to one path, which creates nothing, and after a restart to another path.
func TestGetElsewhereAfterRestart(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	a := tracker.Start(t, "A")
	seed, link, content := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	if err := seed.Stop(); err != nil {
		t.Fatal(err)
	}
	data, first, second := t.TempDir(), filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	b := tracker.Start(t, "B", peertest.Data(data))
	peertest.Get(t, b, link, first)
	var elsewhere *peer.ElsewhereError
	if _, err := b.Get(link, second, peer.GetOptions{}); !errors.As(err, &elsewhere) || elsewhere.Root != first {
		t.Errorf("another path while a get waits: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = tracker.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, b, link, second)
	if _, err := b.Get(link, first, peer.GetOptions{}); !errors.As(err, &elsewhere) || elsewhere.Root != second {
		t.Errorf("the earlier path while a get waits: %v", err)
	}
	if _, err := a.Seed(t.Context(), seed.Status().Root, peer.SeedOptions{}); err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	peertest.EqualFile(t, second, content)
	if _, err := os.Lstat(first); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first path: %v", err)
	}
}

// TestGetElsewhereWhileResumed gets a link to another path, while the node resumes a get that could not create its file.
func TestGetElsewhereWhileResumed(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	seed, link, _ := peertest.SeedRandom(t, tracker.Start(t, "A"), 1<<20, peer.SeedOptions{})
	manifest, err := seed.Manifest().Encode()
	if err == nil {
		err = seed.Stop()
	}
	if err != nil {
		t.Fatal(err)
	}
	data, dir, opt := t.TempDir(), t.TempDir(), peer.GetOptions{Manifest: manifest}
	for i := range 20 {
		b := tracker.Start(t, "B", peertest.Data(data))
		place := filepath.Join(dir, fmt.Sprint(i))
		get, err := b.Get(link, filepath.Join(place, "out"), opt)
		if err != nil {
			t.Fatalf("get %d: %v", i, err)
		}
		peertest.Eventually(t, "the journal is open", func() bool { return get.Status().Phase == peer.Fetching })
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		record := filepath.Join(get.Dir(), "transfer.json")
		text, err := os.ReadFile(record)
		if err == nil {
			text = bytes.ReplaceAll(text, []byte(`: true`), []byte(`: false`)) // nothing was created
			err = errors.Join(os.WriteFile(record, text, 0o600), os.RemoveAll(place))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
