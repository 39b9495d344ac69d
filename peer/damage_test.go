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
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
)

// tree makes a directory with three files of a megabyte each.
func tree(t *testing.T) string {
	t.Helper()
	dir, _ := randomTree(t, 1<<20, "a", "b", "sub/c")
	return dir
}

func equalTree(t *testing.T, got, want string) {
	t.Helper()
	for _, name := range []string{"a", "b", "sub/c"} {
		content, err := os.ReadFile(filepath.Join(want, name))
		if err != nil {
			t.Fatal(err)
		}
		peertest.EqualFile(t, filepath.Join(got, name), content)
	}
}

// damages are changes of file b, in a directory with three files of 16 pieces each, while
// no daemon runs, with the number of pieces that are damaged.
var damages = map[string]struct {
	do     func(path string) error
	pieces int
}{
	"byte flipped": {func(path string) error { return peertest.Flip(path, 100_000) }, 1},
	"truncated":    {func(path string) error { return os.Truncate(path, 500_000) }, 9},
	"too long":     {func(path string) error { return os.Truncate(path, 1<<20+1) }, 0},
	"deleted":      {os.Remove, 16},
}

// TestDamagedCopy damages a complete copy while its node does not run. The node reports and
// fetches the damaged pieces only.
func TestDamagedCopy(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		for _, opt := range []peer.SeedOptions{{}, {Coded: 4}} {
			t.Run(fmt.Sprintf("%s, coded %d", name, opt.Coded), func(t *testing.T) {
				t.Parallel()
				data, src, out := t.TempDir(), tree(t), filepath.Join(t.TempDir(), "out")
				gate := peertest.NewGate(0)
				gate.Open()
				a := peertest.Start(t, "A", peertest.WithGate(gate))
				opt.PieceLength = 64 << 10
				_, link := peertest.Seed(t, a, src, opt)
				b := peertest.Start(t, "B", peertest.Data(data))
				get := peertest.Get(t, b, link, out)
				peertest.Wait(t, get)
				if err := get.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(b.Close(), damage.do(filepath.Join(out, "b"))); err != nil {
					t.Fatal(err)
				}
				gate.Close()
				var log peertest.Recorder
				get = restart(t, data, link, peertest.Log(log.Logger()))
				if damage.pieces > 0 {
					peertest.Eventually(t, "word of the damage", func() bool {
						st := get.Status()
						return st.Damaged == int64(damage.pieces) && slices.Equal(st.DamagedFiles, []string{"b"}) && st.Phase == peer.Fetching
					})
					if text := log.String(); !strings.Contains(text, "damaged on disk") || !strings.Contains(text, "files=[b]") {
						t.Errorf("log %s", text)
					}
				}
				gate.Open()
				peertest.Wait(t, get)
				equalTree(t, out, src)
				st := get.Status()
				// A coded transfer has blocks in flight that the last one made unnecessary.
				if got, most := st.Traffic.WANIn-st.Duplicate, int64(damage.pieces+4+2*opt.Coded)*(64<<10); got > most {
					t.Errorf("%d bytes received for %d damaged pieces", got, damage.pieces)
				}
				peertest.Eventually(t, "the damage to be over", func() bool {
					st := get.Status()
					return st.Phase == peer.Whole && st.Damaged == 0 && st.PiecesHave == st.Pieces
				})
			})
		}
	}
}

// TestDamagedSeed damages a seed while its node does not run. The node reports the damage,
// serves the valid pieces, and writes nothing; it serves all pieces once the file is restored.
func TestDamagedSeed(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		if damage.pieces == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, src := t.TempDir(), tree(t)
			a := peertest.Start(t, "B", peertest.Data(data))
			_, link := peertest.Seed(t, a, src, peer.SeedOptions{PieceLength: 64 << 10})
			path := filepath.Join(src, "b")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err == nil {
				err = errors.Join(a.Close(), damage.do(path))
			}
			if err != nil {
				t.Fatal(err)
			}
			// A member that has all could repair it.
			seed := restart(t, data, link)
			link.Peers = seed.Node().Addrs()
			peertest.Eventually(t, "word of the damage", func() bool {
				st := seed.Status()
				return st.Phase == peer.Whole && st.Damaged == int64(damage.pieces) && slices.Equal(st.DamagedFiles, []string{"b"}) &&
					strings.Contains(st.Waiting, "put the files back")
			})
			out := filepath.Join(t.TempDir(), "out")
			get := peertest.Get(t, peertest.Start(t, "C"), link, out)
			peertest.Eventually(t, "the valid pieces", func() bool {
				st := get.Status()
				return st.Pieces > 0 && st.PiecesHave == st.Pieces-damage.pieces
			})
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Chmod(path, info.Mode()), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
				t.Fatal(err)
			}
			v, err := seed.Verify(t.Context(), nil)
			if err != nil || v.Damaged.Count != 0 || v.Checked != v.Pieces {
				t.Errorf("verified %+v, %v", v, err)
			}
			peertest.Wait(t, get)
			equalTree(t, out, src)
			if st := seed.Status(); st.Damaged != 0 || st.PiecesHave != st.Pieces {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// unreadable is a store in which the second megabyte cannot be read while that is switched on.
type unreadable struct {
	store.Store
	on *atomic.Bool
}

// ReadAt implements [store.Store].
func (s unreadable) ReadAt(b []byte, offset int64) (int, error) {
	if s.on.Load() && offset+int64(len(b)) > 1<<20 && offset < 2<<20 {
		return 0, &store.UnreadableError{Path: "b", Err: syscall.EIO}
	}
	return s.Store.ReadAt(b, offset)
}

// TestUnreadableAtStart starts a node while a file to rehash cannot be read. It
// is neither damaged nor fetched. The other pieces are served, and all once the file can be read.
func TestUnreadableAtStart(t *testing.T) {
	t.Parallel()
	data, src, out := t.TempDir(), tree(t), filepath.Join(t.TempDir(), "out")
	a := peertest.Start(t, "A")
	_, link := peertest.Seed(t, a, src, peer.SeedOptions{PieceLength: 64 << 10})
	b := peertest.Start(t, "B", peertest.Data(data))
	peertest.Wait(t, peertest.Get(t, b, link, out))
	path := filepath.Join(out, "b")
	if err := errors.Join(a.Close(), b.Close(), os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0))); err != nil { // so that it is unverified
		t.Fatal(err)
	}
	var on atomic.Bool
	on.Store(true)
	b, err := peer.Start(peer.Config{Data: data, Cluster: "B"},
		peer.WithStore(func(st store.Store) store.Store { return unreadable{st, &on} }))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	get, err := b.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	waitsFor(t, get, "16 pieces cannot be read at present: b cannot be read at present: input/output error")
	if st := get.Status(); st.Damaged != 0 || st.PiecesHave != st.Pieces-16 || st.Phase != peer.Fetching {
		t.Errorf("status %+v", st)
	}
	l := *link
	l.Peers = get.Node().Addrs()
	other := peertest.Get(t, peertest.Start(t, "C"), &l, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "what can be read", func() bool {
		st := other.Status()
		return st.Pieces > 0 && st.PiecesHave == st.Pieces-16
	})
	v, err := get.Verify(t.Context(), nil)
	if err != nil || v.Unreadable.Count != 16 || v.Damaged.Count != 0 || !slices.Equal(v.Unreadable.Files, []string{"b"}) {
		t.Errorf("verified %+v, %v", v, err)
	}
	on.Store(false)
	peertest.Wait(t, get)
	peertest.Wait(t, other)
	equalTree(t, out, src)
	if st := get.Status(); st.Traffic.WANIn+st.Traffic.LANIn != 0 || st.Damaged != 0 {
		t.Errorf("status %+v", st)
	}
}

// TestSeedAgain seeds files again that were damaged and restored.
func TestSeedAgain(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := peertest.Start(t, "B", peertest.Data(data))
	path, content := peertest.RandomFile(t, 4<<20)
	_, link := peertest.Seed(t, b, path, peer.SeedOptions{})
	info, err := os.Stat(path)
	if err == nil {
		err = errors.Join(b.Close(), os.WriteFile(path, make([]byte, len(content)), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	tr := restart(t, data, link)
	peertest.Eventually(t, "the damage", func() bool { return tr.Status().Phase == peer.Whole && tr.Status().PiecesHave == 0 })
	if err := errors.Join(os.WriteFile(path, content, 0o600), os.Chmod(path, info.Mode()), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	again, _ := peertest.Seed(t, tr.Node(), path, peer.SeedOptions{})
	if st := again.Status(); again != tr || st.PiecesHave != st.Pieces {
		t.Errorf("status %+v", st)
	}
}

// TestGetOfDamagedSeed gets the link of a seed whose only piece in a file is damaged. The get fails until the file is back.
func TestGetOfDamagedSeed(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"running", "stopped"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			n, dir := peertest.Start(t, "A"), tree(t)
			seed, link := peertest.Seed(t, n, dir, peer.SeedOptions{PieceLength: 4 << 20})
			if when == "stopped" {
				check(t, seed.Stop())
			}
			b := filepath.Join(dir, "b")
			check(t, os.Rename(b, b+".old"), os.WriteFile(b, []byte("mine"), 0o600))
			get := peertest.Get(t, n, link, dir)
			var different *peer.DifferentError
			want := []store.Difference{{Path: "b", What: store.Cut}}
			if err := get.Wait(t.Context()); !errors.As(err, &different) || !slices.Equal(different.State.Different, want) {
				t.Errorf("get: %v", err)
			}
			if err := get.Flush(t.Context()); !errors.As(err, &different) {
				t.Errorf("flush: %v", err)
			}
			check(t, os.Rename(b+".old", b))
			get = peertest.Get(t, n, link, dir)
			check(t, get.Wait(t.Context()), get.Flush(t.Context()))
		})
	}
}
