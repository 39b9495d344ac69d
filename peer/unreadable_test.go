package peer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
)

// failing is a store that cannot be read while it is switched on.
type failing struct {
	store.Store
	on *atomic.Bool
}

// ReadAt implements [store.Store].
func (s failing) ReadAt(b []byte, offset int64) (int, error) {
	if s.on.Load() {
		return 0, fmt.Errorf("read content.bin: %w", syscall.EIO)
	}
	return s.Store.ReadAt(b, offset)
}

// TestUnreadable fails reads at the only source for a while. No piece is damaged.
// Both nodes report the reason for waiting, the log has it once, and the transfer continues by itself.
func TestUnreadable(t *testing.T) {
	if testing.Short() {
		t.Skip("the source tries a disk that fails again ever later")
	}
	t.Parallel()
	// Few pieces, since each one takes a request, but more coded pieces than are
	// encoded from memory.
	for name, tt := range map[string]struct {
		size int
		opt  peer.SeedOptions
	}{
		"plain": {6 << 20, peer.SeedOptions{PieceLength: 256 << 10}},
		"coded": {16 << 20, peer.SeedOptions{PieceLength: 256 << 10, Coded: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var on atomic.Bool
			log := new(peertest.Recorder)
			gate := peertest.NewGate(2 << 20)
			a := peertest.Start(t, "A", peertest.Log(log.Logger()), peertest.WithGate(gate))
			a.SetStore(func(st store.Store) store.Store { return failing{st, &on} })
			seed, link, content := peertest.SeedRandom(t, a, tt.size, tt.opt)
			b := peertest.Start(t, "B")
			out := filepath.Join(t.TempDir(), "out")
			get := peertest.Get(t, b, link, out)
			peertest.Eventually(t, "some blocks", func() bool { return get.Status().Traffic.WANIn > 1<<20 })
			on.Store(true)
			gate.Open()
			peertest.Eventually(t, "word of the disk", func() bool {
				return strings.Contains(seed.Status().Waiting, "cannot be read at present: read content.bin: input/output error")
			})
			peertest.Eventually(t, "the missing pieces", func() bool {
				return strings.Contains(get.Status().Waiting, "missing piece")
			})
			if st := seed.Status(); st.Damaged > 0 || st.PiecesHave != st.Pieces {
				t.Errorf("a read error counts as damage: %+v", st)
			}
			on.Store(false)
			peertest.Wait(t, get)
			peertest.EqualFile(t, out, content)
			if n := log.Count("cannot be read at present"); n != 1 {
				t.Errorf("logged %d times:\n%s", n, log)
			}
			if w := seed.Status().Waiting; w != "" {
				t.Errorf("it still waits for %s", w)
			}
		})
	}
}

// TestGetOfUnreadable gets a complete copy again after a check could not read it. The get fails until it can be read.
func TestGetOfUnreadable(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	b.SetStore(func(st store.Store) store.Store { return failing{st, &on} })
	_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{PieceLength: 256 << 10})
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, b, link, out)
	peertest.Wait(t, get)
	verify := func() {
		t.Helper()
		if _, err := get.Verify(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	on.Store(true)
	verify()
	if _, err := b.Get(link, out, peer.GetOptions{}); !errors.Is(err, syscall.EIO) {
		t.Fatalf("a get of a copy that cannot be read: %v", err)
	}
	on.Store(false)
	verify()
	peertest.Wait(t, peertest.Get(t, b, link, out))
}

// TestDamagedCopyIsRepaired changes a byte of a complete fetched copy. Its node fetches the
// piece again.
func TestDamagedCopyIsRepaired(t *testing.T) {
	t.Parallel()
	tracker, gate := peertest.NewTracker(), peertest.NewGate(0)
	gate.Open()
	a, b := tracker.Start(t, "A", peertest.WithGate(gate)), tracker.Start(t, "B")
	_, link, content := peertest.SeedRandom(t, a, 8<<20, peer.SeedOptions{PieceLength: 64 << 10})
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, b, link, out)
	peertest.Wait(t, get)
	if err := peertest.Flip(out, 1<<20); err != nil {
		t.Fatal(err)
	}
	// A third node, which only its own cluster sends anything, finds out.
	gate.Close()
	copied := peertest.Get(t, tracker.Start(t, "B"), link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "the damage", func() bool { return b.Stats().Totals.Damaged == 1 })
	gate.Open()
	peertest.WaitEqual(t, []*peer.Transfer{copied}, content)
	peertest.Eventually(t, "the repair", func() bool {
		st := get.Status()
		return st.Phase == peer.Whole && st.Damaged == 0 && st.PiecesHave == st.Pieces
	})
	peertest.EqualFile(t, out, content)
}

// TestDamagedSeedResumes starts a node whose seed has changed. It reports that, serves the valid pieces, and
// serves all pieces once the file is restored.
func TestDamagedSeedResumes(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	a := peertest.Start(t, "A", peertest.Data(data))
	path, content := peertest.RandomFile(t, 4<<20)
	seed, _ := peertest.Seed(t, a, path, peer.SeedOptions{})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(content)
	changed[1<<20] ^= 1
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	a = peertest.Start(t, "A", peertest.Data(data))
	seed, err := a.Transfer(seed.ID.String())
	if err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "word of the damage", func() bool {
		st := seed.Status()
		return st.Phase == peer.Whole && st.PiecesHave == st.Pieces-1 && st.Damaged == 1 &&
			strings.Contains(st.Waiting, "1 piece of content.bin changed on disk: put the files back as they were")
	})
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "the piece", func() bool {
		st := seed.Status()
		return st.PiecesHave == st.Pieces && st.Damaged == 0 && st.Waiting == ""
	})
}
