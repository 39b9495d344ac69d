package peer_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// again lists changes to the directory of a complete get before the same get.
var again = map[string]struct {
	do   func(out string) error
	want string // part of the error of the get; empty if the copy is complete
}{
	"one deleted":  {func(out string) error { return os.Remove(out + "/x") }, ""},
	"all deleted":  {func(out string) error { return errors.Join(os.Remove(out+"/x"), os.Remove(out+"/in/y")) }, ""},
	"one emptied":  {func(out string) error { return os.Truncate(out+"/x", 0) }, ""},
	"one extended": {func(out string) error { return os.Truncate(out+"/x", 4<<20) }, ""},
	"no bytes deleted": {func(out string) error {
		return errors.Join(os.Remove(out+"/empty"), os.Remove(out+"/none"), os.Remove(out+"/link"))
	}, ""},
	"directory deleted": {func(out string) error {
		err := os.RemoveAll(out)
		for errors.Is(err, syscall.ENOTEMPTY) { // a peer has requested a piece of a file that was deleted: it is fetched again
			err = os.RemoveAll(out)
		}
		return err
	}, ""},
	"directory replaced": {func(out string) error { return errors.Join(os.Rename(out, out+"-was"), os.Mkdir(out, 0o700)) }, ""},
	"link changed":       {func(out string) error { return errors.Join(os.Remove(out+"/link"), os.Symlink("in", out+"/link")) }, "link (changed)"},
	"empty file filled":  {func(out string) error { return os.WriteFile(out+"/empty", []byte("mine"), 0o600) }, "empty (grown)"},
	"file replaced": {func(out string) error {
		return errors.Join(os.WriteFile(out+"/new", []byte("mine"), 0o600), os.Rename(out+"/new", out+"/x"))
	}, "/x exists and was not created"},
}

// equalTrees checks that two directories have the same entries with the same bytes.
func equalTrees(t *testing.T, got, want string) {
	t.Helper()
	g, err := store.Scan(t.Context(), got, store.ScanOptions{})
	check(t, err)
	w, err := store.Scan(t.Context(), want, store.ScanOptions{})
	check(t, err)
	paths := func(m *proto.Manifest) (paths []string) {
		for _, e := range m.Entries {
			paths = append(paths, fmt.Sprint(e.Kind, e.Path, e.Size, e.Target))
		}
		return paths
	}
	if !slices.Equal(paths(g), paths(w)) || !bytes.Equal(g.Hashes, w.Hashes) {
		t.Errorf("%s has %q, want %q, or other bytes", got, paths(g), paths(w))
	}
}

// TestGetOfChangedCopy gets the same link again after the copy was changed. The get completes the copy, or fails and
// names the entry.
func TestGetOfChangedCopy(t *testing.T) {
	t.Parallel()
	src := filepath.Join(t.TempDir(), "src")
	put(t, filepath.Join(src, "x"), strings.Repeat("x", 3<<20))
	put(t, filepath.Join(src, "in/y"), strings.Repeat("y", 2<<20))
	put(t, filepath.Join(src, "empty"), "")
	check(t, os.Mkdir(filepath.Join(src, "none"), 0o755), os.Symlink("x", filepath.Join(src, "link")))
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
	for name, c := range again {
		for _, restarted := range []bool{false, true} {
			when := map[bool]string{false: "running", true: "restarted"}[restarted]
			t.Run(name+"/"+when, func(t *testing.T) {
				t.Parallel()
				data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
				n := peertest.Start(t, "B", peertest.Data(data))
				get := peertest.Get(t, n, link, out)
				peertest.Wait(t, get)
				check(t, get.Flush(t.Context()))
				if restarted {
					check(t, n.Close())
				}
				check(t, c.do(out))
				if restarted {
					n = peertest.Start(t, "B", peertest.Data(data))
				}
				err := peertest.Get(t, n, link, out).Wait(t.Context())
				switch {
				case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Fatalf("get: %v, want %q", err, c.want)
				case c.want == "":
					equalTrees(t, out, src)
				}
			})
		}
	}
}

// TestSeedOfFetchedCopy seeds what was fetched: it is the user's from then on.
func TestSeedOfFetchedCopy(t *testing.T) {
	t.Parallel()
	path, _ := peertest.RandomFile(t, 1<<20)
	_, link := peertest.Seed(t, peertest.Start(t, "A"), path, peer.SeedOptions{})
	n, out := peertest.Start(t, "B"), filepath.Join(t.TempDir(), filepath.Base(path))
	get := peertest.Get(t, n, link, out)
	peertest.Wait(t, get)
	seed, _ := peertest.Seed(t, n, out, peer.SeedOptions{})
	if st := seed.Status(); seed != get || !st.Seed || st.PiecesHave != st.Pieces {
		t.Errorf("status %+v", st)
	}
	if _, err := n.Remove(seed, true); err == nil {
		t.Error("a seeded file was removed")
	}
}

// TestSeedOfGoodCopy seeds a second copy after the first one was damaged, changed or stopped. The second copy is served
// from then on.
func TestSeedOfGoodCopy(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(seed *peer.Transfer, path string) error{
		"bit rot": func(seed *peer.Transfer, path string) error {
			info, err := os.Stat(path)
			if err == nil {
				err = errors.Join(peertest.Flip(path, 5), os.Chtimes(path, info.ModTime(), info.ModTime()))
			}
			if err == nil {
				_, err = seed.Verify(t.Context(), nil)
			}
			return err
		},
		"truncated": func(_ *peer.Transfer, path string) error { return os.Truncate(path, 9) },
		"deleted":   func(_ *peer.Transfer, path string) error { return os.Remove(path) },
		"stopped":   func(seed *peer.Transfer, _ string) error { return seed.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := peertest.Start(t, "A")
			path, content := peertest.RandomFile(t, 1<<20)
			first, _ := peertest.Seed(t, n, path, peer.SeedOptions{})
			check(t, damage(first, path))
			good, e := filepath.Join(t.TempDir(), filepath.Base(path)), first.Manifest().Entries[0]
			check(t, os.WriteFile(good, content, 0o600), os.Chmod(good, os.FileMode(e.Mode)),
				os.Chtimes(good, time.Time{}, time.Unix(0, e.MTime)))
			second, link := peertest.Seed(t, n, good, peer.SeedOptions{})
			if st := second.Status(); second != first || st.Root != good || st.PiecesHave != st.Pieces {
				t.Errorf("status %+v", st)
			}
			out := filepath.Join(t.TempDir(), "out")
			peertest.Wait(t, peertest.Get(t, peertest.Start(t, "B"), link, out))
			peertest.EqualFile(t, out, content)
		})
	}
}

// TestStatusOfChangedCopy changes the files of complete transfers. Their status names the entries.
func TestStatusOfChangedCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "src/x"), "xx")
	put(t, filepath.Join(dir, "src/in/y"), "yy")
	seed, link := peertest.Seed(t, peertest.Start(t, "A"), filepath.Join(dir, "src"), peer.SeedOptions{})
	get := peertest.Get(t, peertest.Start(t, "B"), link, filepath.Join(dir, "out"))
	peertest.Wait(t, get)
	check(t, os.Truncate(filepath.Join(dir, "src/x"), 1), os.Remove(filepath.Join(dir, "out/in/y")))
	looked := time.Now()
	peer.Look(seed, get)
	for t2, want := range map[*peer.Transfer]store.Difference{seed: {Path: "x", What: store.Cut}, get: {Path: "in/y", What: store.Gone}} {
		peertest.Eventually(t, fmt.Sprint("the difference ", want), func() bool { // a slow disk is not waited for
			return slices.Equal(t2.Status().Different, []store.Difference{want})
		})
	}
	check(t, os.Rename(filepath.Join(dir, "out"), filepath.Join(dir, "moved")))
	peer.Look(get)
	if get.Status().Away && time.Since(looked) < 10*time.Second {
		t.Error("looked at again within 10 seconds")
	}
}

// TestServingTransferLooks checks that Look, which a node calls every minute, logs a difference once.
func TestServingTransferLooks(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), new(peertest.Recorder)
	put(t, filepath.Join(dir, "src/x"), "xx")
	put(t, filepath.Join(dir, "src/y"), "yy")
	n := peertest.Start(t, "A", peertest.Log(log.Logger()))
	seed, _ := peertest.Seed(t, n, filepath.Join(dir, "src"), peer.SeedOptions{})
	check(t, os.Remove(filepath.Join(dir, "src/x")))
	for range 2 {
		peer.Look(n.Transfers()...)
	}
	for log.Count("differs from its files") == 0 { // a slow disk is not waited for
		time.Sleep(10 * time.Millisecond)
	}
	if d := seed.Status().Different; len(d) != 1 || log.Count("differs from its files") != 1 {
		t.Errorf("%v differ, and the log is %s", d, log)
	}
}

// publishing is a store that calls a function after a Publish.
type publishing struct {
	store.Store
	after func()
}

// Publish implements [store.Store].
func (p publishing) Publish() error {
	err := p.Store.Publish()
	if err == nil {
		p.after()
	}
	return err
}

// TestGetAsAnotherEnds gets the same link again after a file was deleted, while the first get ends. The second get completes
// the copy.
func TestGetAsAnotherEnds(t *testing.T) {
	t.Parallel()
	src, out := tree(t), filepath.Join(t.TempDir(), "out")
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
	n := peertest.Start(t, "B")
	second := make(chan *peer.Transfer, 1)
	var once sync.Once
	n.SetStore(func(st store.Store) store.Store {
		return publishing{st, func() {
			once.Do(func() {
				check(t, os.Remove(filepath.Join(out, "b")))
				first, err := n.Transfer(link.Manifest.String())
				check(t, err)
				ending, got := first.Ending(), make(chan struct{})
				go func() {
					defer close(got)
					second <- peertest.Get(t, n, link, out)
				}()
				select {
				case <-got:
				case <-ending: // the second get waits for the end of the first one
				}
			})
		}}
	})
	peertest.Get(t, n, link, out)
	peertest.Wait(t, <-second)
	equalTree(t, out, src)
}

// writing is a store that calls a function before a write.
type writing struct {
	store.Store
	before func()
}

// WriteAt implements [store.Store].
func (w writing) WriteAt(p []byte, offset int64) (int, error) {
	w.before()
	return w.Store.WriteAt(p, offset)
}

// TestFileChangedDuringRepair deletes, truncates or edits a file between the moment when its pieces were verified and the write
// of a damaged one. The get fetches all that is not there any more, and a later look finds no change.
func TestFileChangedDuringRepair(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"deleted":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 100_000) },
		"edited":    func(path string) error { return peertest.Flip(path, 900_000) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, content := peertest.RandomFile(t, 1<<20)
			_, link := peertest.Seed(t, peertest.Start(t, "A"), path, peer.SeedOptions{PieceLength: 64 << 10})
			n, out := peertest.Start(t, "B"), filepath.Join(t.TempDir(), "out")
			get := peertest.Get(t, n, link, out)
			peertest.Wait(t, get)
			check(t, get.Flush(t.Context()), peertest.Flip(out, 5))
			var once sync.Once
			n.SetStore(func(st store.Store) store.Store {
				return writing{st, func() { once.Do(func() { check(t, change(out)) }) }}
			})
			peertest.Wait(t, peertest.Get(t, n, link, out))
			peertest.EqualFile(t, out, content)
			if look, ok := peer.LookNow(get); !ok || !look.Intact() {
				t.Errorf("the repaired content differs: %+v", look)
			}
		})
	}
}

// TestLostJournal starts a node whose journal of a complete get was lost. A file with the right bytes is read. One that
// the user edited is not written to, and the error names it, until a get with Reuse.
func TestLostJournal(t *testing.T) {
	t.Parallel()
	src, data, out := tree(t), t.TempDir(), filepath.Join(t.TempDir(), "out")
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{PieceLength: 64 << 10})
	n := peertest.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, n, link, out)
	peertest.Wait(t, get)
	lose := func() {
		t.Helper()
		check(t, n.Close(), os.Remove(filepath.Join(get.Dir(), "journal")))
	}
	lose()
	get = restart(t, data, link)
	n = get.Node()
	peertest.Wait(t, get)
	lose()
	check(t, peertest.Flip(filepath.Join(out, "b"), 5))
	edited, err := os.ReadFile(filepath.Join(out, "b"))
	check(t, err)
	get = restart(t, data, link)
	n = get.Node()
	if err := get.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), filepath.Join(out, "b")+" exists") {
		t.Errorf("error is %v, want one that names b", err)
	}
	peertest.EqualFile(t, filepath.Join(out, "b"), edited)
	l := *link
	get, err = n.Get(&l, out, peer.GetOptions{Reuse: true})
	check(t, err)
	peertest.Wait(t, get)
	equalTree(t, out, src)
}

// TestReuseOfMovedSeed gets the content of a seed whose directory was moved, and lost a file, with Reuse at the new path.
func TestReuseOfMovedSeed(t *testing.T) {
	t.Parallel()
	src, opt := tree(t), peer.SeedOptions{PieceLength: 64 << 10}
	out := filepath.Join(t.TempDir(), filepath.Base(src))
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, opt)
	n, moved := peertest.Start(t, "B"), out+"-moved"
	peertest.Wait(t, peertest.Get(t, n, link, out))
	peertest.Seed(t, n, out, opt)
	check(t, os.Rename(out, moved), os.Remove(filepath.Join(moved, "b")))
	l := *link
	get, err := n.Get(&l, moved, peer.GetOptions{Reuse: true})
	check(t, err)
	peertest.Wait(t, get)
	equalTree(t, moved, src)
}

// TestKilledBeforeSeedRecorded starts a node that was killed after it had replaced the journal of a get by the journal of a
// seed of another copy, and before it recorded that. A file that the copy has lost is fetched again.
func TestKilledBeforeSeedRecorded(t *testing.T) {
	t.Parallel()
	src, data, out := tree(t), t.TempDir(), filepath.Join(t.TempDir(), "out")
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{PieceLength: 64 << 10})
	n := peertest.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, n, link, out)
	peertest.Wait(t, get)
	check(t, n.Close())
	st, err := store.Seed(get.Dir(), src, get.Manifest(), store.NewFiles(0))
	check(t, err)
	check(t, st.Close(), os.Remove(filepath.Join(out, "b")))
	peertest.Wait(t, restart(t, data, link))
	equalTree(t, out, src)
}
