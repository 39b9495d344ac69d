package peer_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// restart starts a node of cluster B again, and returns its transfer of a link.
func restart(t *testing.T, data string, link *proto.Link, opts ...peertest.Option) *peer.Transfer {
	t.Helper()
	n := peertest.Start(t, "B", append(opts, peertest.Data(data))...)
	tr, err := n.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// waitsFor waits until the status of a transfer has a text.
func waitsFor(t *testing.T, tr *peer.Transfer, text string) {
	t.Helper()
	peertest.Eventually(t, "the text "+text, func() bool {
		return strings.Contains(tr.Status().Waiting, text)
	})
}

// TestContentAway starts a node while the files of a transfer are missing, as on a disk that is not mounted
// yet. The transfer waits for them, and no piece is damaged.
func TestContentAway(t *testing.T) {
	t.Parallel()
	for name, seeded := range map[string]bool{"fetched": false, "seeded": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, data := peertest.Start(t, "A"), t.TempDir()
			path, content := peertest.RandomFile(t, 4<<20)
			_, link := peertest.Seed(t, a, path, peer.SeedOptions{})
			b, mount := peertest.Start(t, "B", peertest.Data(data)), filepath.Join(t.TempDir(), "mount")
			out := filepath.Join(mount, "out")
			if err := os.Mkdir(mount, 0o700); err != nil {
				t.Fatal(err)
			}
			if seeded {
				if err := os.WriteFile(out, content, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(out, filepath.Join(mount, "content.bin")); err != nil {
					t.Fatal(err)
				}
				out = filepath.Join(mount, "content.bin")
				info, err := os.Stat(path)
				if err == nil {
					err = os.Chtimes(out, info.ModTime(), info.ModTime())
				}
				if err == nil {
					err = os.Chmod(out, info.Mode())
				}
				if err != nil {
					t.Fatal(err)
				}
				peertest.Seed(t, b, out, peer.SeedOptions{})
			} else {
				peertest.Wait(t, peertest.Get(t, b, link, out))
			}
			if err := errors.Join(b.Close(), os.Rename(mount, mount+".away")); err != nil {
				t.Fatal(err)
			}
			var log peertest.Recorder
			tr := restart(t, data, link, peertest.Log(log.Logger()))
			waitsFor(t, tr, out+", which is not there")
			if st := tr.Status(); st.Phase != peer.Checking || st.Damaged != 0 || st.Error != "" {
				t.Errorf("status %+v", st)
			}
			if err := os.Rename(mount+".away", mount); err != nil {
				t.Fatal(err)
			}
			peertest.Eventually(t, "completion", func() bool { return tr.Status().Phase == peer.Whole })
			st := tr.Status()
			if st.Traffic.WANIn+st.Traffic.LANIn != 0 || st.Damaged != 0 || st.Waiting != "" {
				t.Errorf("status %+v", st)
			}
			peertest.EqualFile(t, out, content)
			if n := log.Count("waiting for it"); n != 1 {
				t.Errorf("logged %d times", n)
			}
		})
	}
}

// held is a store that cannot be read before a channel is closed.
type held struct {
	store.Store
	free <-chan struct{}
}

// ReadAt implements [store.Store].
func (s held) ReadAt(b []byte, offset int64) (int, error) {
	<-s.free
	return s.Store.ReadAt(b, offset)
}

// TestCheckingDoesNotWait checks that a transfer that hashes existing files does not report what it waited for before.
func TestCheckingDoesNotWait(t *testing.T) {
	t.Parallel()
	a, b, free := peertest.Start(t, "A"), peertest.Start(t, "B"), make(chan struct{})
	b.SetStore(func(st store.Store) store.Store { return held{st, free} })
	path, content := peertest.RandomFile(t, 1<<20)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{})
	out := filepath.Join(t.TempDir(), "out")
	check(t, seed.Stop(), os.WriteFile(out, content, 0o600))
	get, err := b.Get(link, out, peer.GetOptions{Reuse: true})
	check(t, err)
	waitsFor(t, get, "looking for the content")
	peertest.Seed(t, a, path, peer.SeedOptions{})
	peertest.Eventually(t, "the hashing", func() bool { return get.Status().Phase == peer.Checking })
	if st := get.Status(); st.Waiting != "" {
		t.Errorf("it waits for %s", st.Waiting)
	}
	close(free)
	peertest.Wait(t, get)
}

// TestGetOfDeletedFiles gets deleted files again, at the same path and at
// another, while the node runs and after a restart.
func TestGetOfDeletedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                       string
		elsewhere, restart, seeded bool
	}{
		{"at the same path", false, false, false},
		{"elsewhere", true, false, false},
		{"after a restart", false, true, false},
		{"after a restart, elsewhere", true, true, false},
		{"that was seeded", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, data := peertest.Start(t, "A"), t.TempDir()
			path, content := peertest.RandomFile(t, 4<<20)
			_, link := peertest.Seed(t, a, path, peer.SeedOptions{})
			b, out := peertest.Start(t, "B", peertest.Data(data)), filepath.Join(t.TempDir(), "out")
			get := peertest.Get(t, b, link, out)
			peertest.Wait(t, get)
			if c.seeded {
				if _, err := b.Remove(get, false); err != nil {
					t.Fatal(err)
				}
				named := filepath.Join(filepath.Dir(out), "content.bin")
				if err := os.Rename(out, named); err != nil {
					t.Fatal(err)
				}
				out = named
				peertest.Seed(t, b, out, peer.SeedOptions{})
			}
			if c.restart {
				if err := errors.Join(b.Close(), os.Remove(out)); err != nil {
					t.Fatal(err)
				}
				get = restart(t, data, link)
				b = get.Node()
				waitsFor(t, get, "not there")
			} else if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
			if c.elsewhere {
				if err := os.WriteFile(out+"2", []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := b.Get(link, out+"2", peer.GetOptions{}); err == nil {
					t.Error("a file of the user was taken over")
				}
				peertest.EqualFile(t, out+"2", []byte("mine"))
				out += "3"
			}
			peertest.Wait(t, peertest.Get(t, b, link, out))
			peertest.EqualFile(t, out, content)
		})
	}
}

// TestContentAwayWithoutRoom starts a node while the disk of a complete copy is not mounted, and the disk with the mount point has
// no room for the copy. The transfer waits for its files.
func TestContentAwayWithoutRoom(t *testing.T) {
	t.Parallel()
	data, out, away := t.TempDir(), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "away")
	_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A"), 1<<20, peer.SeedOptions{})
	b := peertest.Start(t, "B", peertest.Data(data))
	peertest.Wait(t, peertest.Get(t, b, link, out))
	check(t, b.Close(), os.Rename(out, away))
	n, err := peer.Start(peer.Config{Data: data, Cluster: "B", Log: slog.New(slog.DiscardHandler)}, peer.WithFiles(fullDisk{vfs.OS{}}))
	check(t, err)
	t.Cleanup(func() { check(t, n.Close()) })
	get, err := n.Transfer(link.Manifest.String())
	check(t, err)
	waitsFor(t, get, out+", which is not there")
	check(t, os.Rename(away, out))
	peertest.Eventually(t, "completion", func() bool { return get.Status().Phase == peer.Whole })
}

// fullDisk is a file system without room.
type fullDisk struct{ vfs.FS }

func (f fullDisk) OpenRoot(path string) (vfs.Root, error) {
	r, err := f.FS.OpenRoot(path)
	return fullRoot{r}, err
}

type fullRoot struct{ vfs.Root }

func (fullRoot) Free() (int64, bool) { return 0, true }
