package peer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// holds checks the content of a file.
func holds(t *testing.T, path, content string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%s: %q, %v", path, got, err)
	}
}

// check fails the test if a call that prepares it has failed.
func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestGetOverSeed gets to the place of a seed, above and below it, by all names that lead there.
func TestGetOverSeed(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"served", "stopped", "after a restart"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			dir, data := t.TempDir(), t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			n := peertest.Start(t, "A", peertest.Data(data))
			put(t, at("top/seed/in/x"), "mine")
			check(t, os.Symlink(at("top/seed"), at("link")), os.Symlink(at("top"), at("top link")), os.Symlink("seed", at("top/relative")),
				os.Link(at("top/seed/in/x"), at("hard link")))
			for _, path := range []string{"link", "top/seed/in/x"} { // by a name that no get below is given
				seed, _ := peertest.Seed(t, n, at(path), peer.SeedOptions{})
				if state == "stopped" {
					check(t, seed.Stop())
				}
			}
			if state == "after a restart" {
				check(t, n.Close())
				n = peertest.Start(t, "A", peertest.Data(data))
			}
			for _, name := range []string{
				"top/seed", "top link/seed", "top/relative", "link", "link/in", "top/seed/new", "link/in/new/new", "top", "top link", "hard link",
			} {
				_, err := n.Get(absent(t, "other"), at(name), peer.GetOptions{Reuse: true})
				if err == nil || !strings.Contains(err.Error(), "belongs to another transfer") {
					t.Errorf("get to %s: %v", name, err)
				}
			}
			if _, err := os.Lstat(at("link/in/new")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a get that failed made directories: %v", err)
			}
			holds(t, at("top/seed/in/x"), "mine")
			peertest.Get(t, n, absent(t, "other"), at("top/beside"))
		})
	}
}

// TestGetOverMovedSeed renames a directory above a seed: the seed is still known for what it is.
func TestGetOverMovedSeed(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), peertest.Start(t, "A")
	for _, name := range []string{"top/seed/x", "top/file", "top/beside"} {
		put(t, filepath.Join(dir, name), "mine")
	}
	for _, name := range []string{"top/seed", "top/file"} {
		peertest.Seed(t, n, filepath.Join(dir, name), peer.SeedOptions{})
	}
	check(t, os.Rename(filepath.Join(dir, "top"), filepath.Join(dir, "moved")))
	for name, fails := range map[string]bool{
		"moved": true, "moved/seed": true, "moved/seed/x": true, "moved/seed/new": true, "moved/file": true, "moved/beside": false,
	} {
		_, err := n.Get(absent(t, filepath.Base(name)), filepath.Join(dir, name), peer.GetOptions{Reuse: true})
		if (err != nil) != fails {
			t.Errorf("get to %s: %v", name, err)
		}
	}
}

// TestTwoGetsToOnePlace starts two gets to overlapping places, before either of them exists.
func TestTwoGetsToOnePlace(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), peertest.Start(t, "A")
	at := func(name string) string { return filepath.Join(dir, name) }
	check(t, os.Mkdir(at("dir"), 0o755), os.Symlink("dir", at("link")))
	peertest.Get(t, n, absent(t, "first"), at("dir/new/out"))
	for _, name := range []string{"dir/new/out", "link/new/out", "link/new", "dir/new/out/below"} {
		if _, err := n.Get(absent(t, "second"), at(name), peer.GetOptions{}); err == nil {
			t.Errorf("a second get to %s", name)
		}
	}
	peertest.Get(t, n, absent(t, "second"), at("link/new/outer"))
}

// TestGetAgainByAnotherName repeats a get by another path to the same place.
func TestGetAgainByAnotherName(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), peertest.Start(t, "B")
	check(t, os.Symlink(".", filepath.Join(dir, "link")))
	_, link, content := peertest.SeedRandom(t, peertest.Start(t, "A"), 1<<20, peer.SeedOptions{})
	get := peertest.Get(t, n, link, filepath.Join(dir, "out"))
	peertest.Wait(t, get)
	again := peertest.Get(t, n, withPeer(t, link), filepath.Join(dir, "link/out"))
	peertest.Wait(t, again)
	peertest.EqualFile(t, filepath.Join(dir, "out"), content)
	if again != get || again.Status().Root != filepath.Join(dir, "out") {
		t.Errorf("status %+v", again.Status())
	}
}

// TestLateLink replaces the destination's parent by a link into a seed before the manifest is known. Nothing is
// made in the seed.
func TestLateLink(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), peertest.Start(t, "B")
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("seed/x"), "mine")
	check(t, os.Mkdir(at("parent"), 0o755))
	peertest.Seed(t, n, at("seed"), peer.SeedOptions{})
	_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A"), 1<<20, peer.SeedOptions{})
	nobody := *link
	nobody.Peers = nil
	peertest.Get(t, n, &nobody, at("parent/out"))
	check(t, os.Remove(at("parent")), os.Symlink("seed", at("parent")))
	err := peertest.Get(t, n, link, at("parent/out")).Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("the get ends with %v", err)
	}
	if names, err := os.ReadDir(at("seed")); err != nil || len(names) != 1 {
		t.Errorf("in the seed: %v, %v", names, err)
	}
}

// TestRepairThroughLink replaces the directory above a fetched file by a link into a seed while the daemon does not run.
// The seeded file is not repaired.
func TestRepairThroughLink(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	n := peertest.Start(t, "B", peertest.Data(data))
	_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A"), 1<<20, peer.SeedOptions{})
	get := peertest.Get(t, n, link, at("parent/out"))
	check(t, get.Flush(t.Context()))
	put(t, at("seed/out"), "mine")
	peertest.Seed(t, n, at("seed"), peer.SeedOptions{})
	check(t, n.Close(), os.Rename(at("parent"), at("old")), os.Symlink("seed", at("parent")))
	err := restart(t, data, link).Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("the get ends with %v", err)
	}
	holds(t, at("seed/out"), "mine")
}

// TestSeedOverGet seeds the place of a get that may still write, above and below it, by all names. Once it is
// complete the seed works, and the files are the user's.
func TestSeedOverGet(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"running", "stopped", "after a restart"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			dir, data, gate := t.TempDir(), t.TempDir(), peertest.NewGate(1<<20)
			at := func(name string) string { return filepath.Join(dir, name) }
			src := filepath.Join(t.TempDir(), "src")
			for _, name := range []string{"in/x", "y"} {
				put(t, filepath.Join(src, name), strings.Repeat(name, 3<<20/len(name)))
			}
			_, link := peertest.Seed(t, peertest.Start(t, "A", peertest.WithGate(gate)), src, peer.SeedOptions{})
			n := peertest.Start(t, "B", peertest.Data(data))
			check(t, os.MkdirAll(at("top/beside"), 0o755), os.Symlink("top", at("link")))
			get := peertest.Get(t, n, link, at("top/out"))
			peertest.Eventually(t, "the first piece", func() bool { return get.Status().Have > 0 })
			switch state {
			case "stopped":
				check(t, get.Stop())
			case "after a restart":
				check(t, n.Close())
				n = peertest.Start(t, "B", peertest.Data(data))
			}
			put(t, at("top/out/in/new"), "the user's") // so that there is a directory in any case
			check(t, os.Mkdir(at("view"), 0o755), os.Symlink(at("link/out/in"), at("view/link")))
			for _, name := range []string{"top/out", "top", "link/out", "link", "top/out/in", "view"} {
				_, err := n.Seed(t.Context(), at(name), peer.SeedOptions{FollowLinks: name == "view"})
				if err == nil || !strings.Contains(err.Error(), get.ID.String()) {
					t.Errorf("seed of %s: %v", name, err)
				}
			}
			put(t, at("top/beside/x"), "mine")
			peertest.Seed(t, n, at("link/beside"), peer.SeedOptions{})

			gate.Open()
			get = peertest.Get(t, n, link, at("top/out"))
			peertest.Wait(t, get)
			check(t, get.Flush(t.Context()))
			peertest.Seed(t, n, at("link"), peer.SeedOptions{})
			if !get.Status().Seed {
				t.Error("what is seeded may be written to")
			}
			if _, err := n.Remove(get, true); err == nil {
				t.Error("what is seeded was deleted")
			}
			holds(t, at("top/out/in/new"), "the user's")
		})
	}
}

// TestSeedAgainAtOnePath seeds a path whose content has changed. Its names mean the newer content, and the older
// one is not complete any more.
func TestSeedAgainAtOnePath(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "content"), filepath.Join(dir, "link")
	check(t, os.Symlink(path, link))
	n := peertest.Start(t, "A", peertest.Data(data))
	means := func(want *peer.Transfer) {
		t.Helper()
		for range 20 { // transfers have no order
			for _, name := range []string{path, link} {
				if got, err := n.Transfer(name); err != nil || got.ID != want.ID {
					t.Fatalf("%s means %v, %v", name, got, err)
				}
			}
		}
	}
	damaged := func(old *peer.Transfer) {
		t.Helper()
		peertest.Eventually(t, "that the older seed is damaged", func() bool {
			st := old.Status()
			return st.Damaged > 0 && st.Have == 0
		})
	}
	write := func(content string) {
		put(t, path, content)
		check(t, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))) // so that equal bytes have equal ids
	}
	write("one")
	one, _ := peertest.Seed(t, n, path, peer.SeedOptions{})
	write("other")
	other, _ := peertest.Seed(t, n, link, peer.SeedOptions{})
	means(other)
	damaged(one)
	check(t, n.Close())
	n = peertest.Start(t, "A", peertest.Data(data))
	means(other)
	one, err := n.Transfer(one.ID.String())
	check(t, err)
	damaged(one)
	write("one")
	one, _ = peertest.Seed(t, n, path, peer.SeedOptions{})
	means(one)
	other, err = n.Transfer(other.ID.String())
	check(t, err)
	damaged(other)
}

// TestGetAroundDataDir starts gets whose destination would overlap the key of the node.
func TestGetAroundDataDir(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	data, link := filepath.Join(above, "data"), filepath.Join(t.TempDir(), "link")
	check(t, os.Mkdir(data, 0o700), os.Symlink(above, link))
	n := peertest.Start(t, "A", peertest.Data(data))
	for _, path := range []string{data, above, link, filepath.Join(link, "data", "x"), filepath.Join(data, "transfers", "new", "x")} {
		if _, err := n.Get(absent(t, "x"), path, peer.GetOptions{Reuse: true}); err == nil || !strings.Contains(err.Error(), "data directory") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(data, "transfers", "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a get that failed made directories: %v", err)
	}
}

// TestGetInTheWayStopsNothing gets content that waits for its files to the path of another transfer. The get fails, and the
// transfer waits on.
func TestGetInTheWayStopsNothing(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	src := smallTree(t)
	first, link := peertest.Seed(t, n, src, peer.SeedOptions{})
	_, other, _ := peertest.SeedRandom(t, peertest.Start(t, "B"), 1<<20, peer.SeedOptions{})
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, peertest.Get(t, n, other, out))
	check(t, os.Rename(src, src+"-moved"))
	if _, err := n.Get(link, out, peer.GetOptions{Reuse: true}); err == nil {
		t.Error("no error")
	}
	if err := first.Err(); err != nil {
		t.Errorf("the transfer ended: %v", err)
	}
}
