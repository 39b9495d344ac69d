package swarm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestDamagedSource damages five pieces of the only source. It withdraws them after a report of one: all
// other pieces arrive, both sides name the damaged files, and a valid source completes the content.
func TestDamagedSource(t *testing.T) {
	if testing.Short() {
		t.Skip("a node reports what it waits for after seconds without payload")
	}
	t.Parallel()
	const pieces, damaged = 120, 5
	a, b, c := peertest.Start(t, "A"), peertest.Start(t, "B"), peertest.Start(t, "C")
	path, content := peertest.RandomFile(t, 30<<20)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{PieceLength: 256 << 10})
	var at []int64
	for k := range int64(damaged) {
		at = append(at, (10+20*k)<<18)
	}
	if err := peertest.Flip(path, at...); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, b, link, out)
	peertest.Eventually(t, "all valid pieces", func() bool { return get.Status().PiecesHave == pieces-damaged })
	want := fmt.Sprintf("the %d missing pieces of content.bin: no connected peer has them sound", damaged)
	peertest.Eventually(t, "a status with the missing pieces", func() bool { return strings.Contains(get.Status().Waiting, want) })
	peertest.Eventually(t, "the source to find them all", func() bool { return seed.Status().Damaged == damaged })
	if get.Status().SourceChanged {
		t.Error("a source that serves other pieces counts as changed")
	}
	if names := seed.Status().DamagedFiles; len(names) != 1 || names[0] != "content.bin" {
		t.Errorf("the source names %q", names)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pieces {
		if first := i << 18; i%20 != 10 && string(got[first:first+1<<18]) != string(content[first:first+1<<18]) {
			t.Errorf("piece %d differs", i)
		}
	}

	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sound, _ := peertest.RandomFile(t, 30<<20)
	if err := os.Chtimes(sound, info.ModTime(), info.ModTime()); err != nil { // so that it is the same content
		t.Fatal(err)
	}
	peertest.Seed(t, c, sound, peer.SeedOptions{PieceLength: 256 << 10})
	if err := swarmOf(c, link).Connect(peertest.AddrInfo(b)); err != nil {
		t.Fatal(err)
	}
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
}

// TestReplacedSource replaces all bytes of the only source, and then puts them back.
func TestReplacedSource(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	path, content := peertest.RandomFile(t, 1<<20)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{PieceLength: 256 << 10})
	if err := os.WriteFile(path, make([]byte, len(content)), 0o600); err != nil {
		t.Fatal(err)
	}
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "word of the change", func() bool { return get.Status().SourceChanged })
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := seed.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
	if get.Status().SourceChanged {
		t.Error("the source still counts as changed")
	}
}
