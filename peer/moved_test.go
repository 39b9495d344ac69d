package peer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
)

// TestDestinationMoved moves the destination of a get, or the directory above it. The get fails, and the transfer
// completes without another get once the destination is back.
func TestDestinationMoved(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"disk", "disk/out"} {
		t.Run(filepath.Base(what), func(t *testing.T) {
			t.Parallel()
			gate, dir := peertest.NewGate(1<<20), t.TempDir()
			out, moved := filepath.Join(dir, "disk/out"), filepath.Join(dir, what)
			path, content := peertest.RandomFile(t, 4<<20)
			src := filepath.Dir(path)
			_, link := peertest.Seed(t, peertest.Start(t, "A", peertest.WithGate(gate)), src, peer.SeedOptions{})
			n := peertest.Start(t, "B")
			get := peertest.Get(t, n, link, out)
			peertest.Eventually(t, "the first piece", func() bool { return get.Status().Have > 0 })
			check(t, os.Rename(moved, moved+"-moved"), os.Mkdir(moved, 0o700))
			gate.Open()
			if err := get.Wait(t.Context()); !errors.Is(err, store.ErrAway) || !strings.Contains(err.Error(), out) {
				t.Errorf("get: %v", err)
			}
			if st := get.Status(); st.Phase != peer.Fetching || !strings.Contains(st.Waiting, "put it back") {
				t.Errorf("status %+v", st)
			}
			check(t, os.Remove(moved), os.Rename(moved+"-moved", moved))
			peertest.Eventually(t, "the content to be complete", func() bool { return get.Status().Phase == peer.Whole })
			peertest.Wait(t, get)
			peertest.EqualFile(t, filepath.Join(out, filepath.Base(path)), content)
		})
	}
}

// TestReuseAfterMove moves the destination of a complete get away and makes it again with a link of the user. A get fails and names
// the link, and one with Reuse replaces it.
func TestReuseAfterMove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "src"), filepath.Join(dir, "out")
	put(t, filepath.Join(src, "x"), "xx")
	check(t, os.Symlink("x", filepath.Join(src, "link")))
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
	n := peertest.Start(t, "B")
	get := peertest.Get(t, n, link, out)
	peertest.Wait(t, get)
	for reuse, want := range map[bool]string{false: "mine", true: "x"} {
		check(t, get.Flush(t.Context()), os.Rename(out, filepath.Join(dir, want)), os.Mkdir(out, 0o700), os.Symlink("mine", filepath.Join(out, "link")))
		var err error
		get, err = n.Get(link, out, peer.GetOptions{Reuse: reuse})
		check(t, err)
		var exists *store.ExistsError
		if err := get.Wait(t.Context()); reuse && err != nil || !reuse && !errors.As(err, &exists) {
			t.Errorf("get, reuse %v: %v", reuse, err)
		}
		if is, err := os.Readlink(filepath.Join(out, "link")); is != want || err != nil {
			t.Errorf("reuse %v: the link leads to %q, %v", reuse, is, err)
		}
		if !reuse {
			check(t, os.RemoveAll(out), os.Rename(filepath.Join(dir, want), out))
			peertest.Wait(t, peertest.Get(t, n, link, out))
		}
	}
}

// TestMovedCopyIsNotRepaired edits a complete copy that was moved away. The file stays as the user left it, and the piece is not
// offered until the copy is back.
func TestMovedCopyIsNotRepaired(t *testing.T) {
	t.Parallel()
	tracker, gate := peertest.NewTracker(), peertest.NewGate(0)
	gate.Open()
	path, content := peertest.RandomFile(t, 4<<20)
	_, link := peertest.Seed(t, tracker.Start(t, "A", peertest.WithGate(gate)), filepath.Dir(path), peer.SeedOptions{PieceLength: 64 << 10})
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, tracker.Start(t, "B"), link, out)
	peertest.Wait(t, get)
	moved := filepath.Join(out+"-moved", filepath.Base(path))
	check(t, get.Flush(t.Context()), os.Rename(out, out+"-moved"), peertest.Flip(moved, 1<<20))
	edited, err := os.ReadFile(moved)
	check(t, err)
	// A third node, which only its own cluster sends anything, finds out.
	gate.Close()
	third := peertest.Get(t, tracker.Start(t, "B"), link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "the reason", func() bool {
		return strings.Contains(get.Status().Waiting, "1 piece cannot be read at present")
	})
	gate.Open()
	peertest.Wait(t, third)
	if st := get.Status(); st.Phase != peer.Whole || st.Damaged > 0 {
		t.Errorf("status %+v", st)
	}
	peertest.EqualFile(t, moved, edited)
	check(t, os.Rename(out+"-moved", out))
	peertest.Eventually(t, "the repair", func() bool {
		st := get.Status()
		return st.Phase == peer.Whole && st.Damaged == 0 && st.Waiting == ""
	})
	peertest.EqualFile(t, filepath.Join(out, filepath.Base(path)), content)
}

// TestMovedAndLinked moves a complete copy away and leaves a link at its path, while the node does not run. The transfer names
// the path, and a get with the new one continues there.
func TestMovedAndLinked(t *testing.T) {
	t.Parallel()
	src, data, out := tree(t), t.TempDir(), filepath.Join(t.TempDir(), "out")
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
	n := peertest.Start(t, "B", peertest.Data(data))
	peertest.Wait(t, peertest.Get(t, n, link, out))
	moved := out + "-moved"
	check(t, n.Close(), os.Rename(out, moved), os.Symlink(moved, out))
	get := restart(t, data, link)
	if err := get.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), out+" was changed by another program: it is a link") {
		t.Errorf("get: %v", err)
	}
	get = peertest.Get(t, get.Node(), link, moved)
	peertest.Wait(t, get)
	if root := get.Status().Root; root != moved {
		t.Errorf("it is at %s", root)
	}
	equalTree(t, moved, src)
}

// TestFileAboveCopy puts a file in the place of the directory above a complete copy. The copy is not there: it is fetched to
// another path, and can be removed.
func TestFileAboveCopy(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), peertest.Start(t, "B")
	path, content := peertest.RandomFile(t, 1<<20)
	_, link := peertest.Seed(t, peertest.Start(t, "A"), path, peer.SeedOptions{})
	var get *peer.Transfer
	for _, name := range []string{"first", "second"} {
		above := filepath.Join(dir, name)
		get = peertest.Get(t, n, link, filepath.Join(above, "out"))
		peertest.Wait(t, get)
		check(t, get.Flush(t.Context()), os.Rename(above, above+"-moved"), os.WriteFile(above, nil, 0o600))
		peertest.EqualFile(t, filepath.Join(above+"-moved", "out"), content)
	}
	left, err := n.Remove(get, true)
	if err != nil || len(left) != 1 || !strings.Contains(left[0].Why, "nothing was deleted") {
		t.Errorf("removed: left %v, %v", left, err)
	}
}
