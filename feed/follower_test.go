package feed_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestLate follows a feed whose publisher has stopped: the head and the version come from another follower. That one then starts
// again, and gets the next version.
func TestLate(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	data := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	publisher := start(t, d, "A", data[0])
	link := publisher.newFeed("weights")
	first := start(t, d, "A", data[1])
	dir := first.follow(link, 1)
	files := map[string][]byte{"a": randomBytes(1 << 20)}
	publisher.post("weights", write(t, files))
	first.await(1)
	publisher.stop()
	late := start(t, d, "A", data[2])
	late.follow(link, 1)
	equal(t, late.await(1).Path, files)

	first.stop()
	publisher = start(t, d, "A", data[0])
	files["a"] = []byte("changed")
	if head := publisher.post("weights", write(t, files)); head.Seq != 2 {
		t.Errorf("version %d after a restart, want 2", head.Seq)
	}
	first = start(t, d, "A", data[1])
	first.await(2)
	equal(t, filepath.Join(dir, "latest"), files)
}

// TestSameVersion posts a version that is still there under an older number: it is copied.
func TestSameVersion(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher := start(t, d, "A", t.TempDir())
	link := publisher.newFeed("config")
	follower := start(t, d, "A", t.TempDir())
	dir := follower.follow(link, 2)
	one, two := map[string][]byte{"a": randomBytes(1 << 20)}, map[string][]byte{"a": []byte("two")}
	path := write(t, one)
	publisher.post("config", path)
	follower.await(1)
	publisher.post("config", write(t, two))
	follower.await(2)
	publisher.post("config", path)
	if v := follower.await(3); v.Path != filepath.Join(dir, "3") || v.Saved != v.Length {
		t.Errorf("version 3 is at %s, and %d bytes of it were not fetched", v.Path, v.Saved)
	}
	equal(t, filepath.Join(dir, "latest"), one)
}

// The node has the content of a version at a path of the user's. A copy that he has deleted is not made again there, and one that is
// his since he seeded it is not changed: the status names it.
func TestVersionElsewhere(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, follower := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	dir := follower.follow(publisher.newFeed("config"), 1)
	get := func(path string) (mine string) {
		t.Helper()
		mine = filepath.Join(t.TempDir(), filepath.Base(path)) // its name is in the manifest
		served, err := publisher.node.Seed(t.Context(), path, peer.SeedOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := follower.node.Get(served.Link(), mine, peer.GetOptions{})
		if err == nil {
			err = got.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return mine
	}
	files := map[string][]byte{"a": randomBytes(1 << 20)}
	path := write(t, files)
	deleted := get(path)
	if err := os.RemoveAll(deleted); err != nil {
		t.Fatal(err)
	}
	publisher.post("config", path)
	follower.await(1)
	equal(t, filepath.Join(dir, "latest"), files)
	if _, err := os.Lstat(deleted); err == nil {
		t.Errorf("%s was made again", deleted)
	}

	path = write(t, map[string][]byte{"a": randomBytes(1 << 20)})
	mine := get(path)
	seed, err := follower.node.Seed(t.Context(), mine, peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	edited := map[string][]byte{"a": []byte("edited")}
	if err := os.WriteFile(filepath.Join(mine, "a"), edited["a"], 0o644); err != nil {
		t.Fatal(err)
	}
	publisher.post("config", path)
	peertest.Eventually(t, "the status names the copy", func() bool {
		return strings.Contains(follower.feeds.All()[0].Error, "the content is already at "+mine)
	})
	equal(t, mine, edited)
	if _, err := follower.node.Remove(seed, false); err != nil {
		t.Fatal(err)
	}
	follower.await(2)
	equal(t, mine, edited)
}

// TestOvertaken posts versions faster than they are fetched: the follower ends with the last one, and removes the incomplete
// ones.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher := start(t, d, "A", t.TempDir())
	link := publisher.newFeed("weights")
	follower := start(t, d, "A", t.TempDir())
	dir := follower.follow(link, 1)
	var files map[string][]byte
	const versions = 8
	for range versions {
		files = map[string][]byte{"a": randomBytes(3 << 20)}
		publisher.post("weights", write(t, files))
	}
	follower.await(versions)
	follower.settled(versions)
	equal(t, filepath.Join(dir, "latest"), files)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != fmt.Sprint(versions) {
		t.Errorf("entries: %v, %v", entries, err)
	}
}

// TestStepBack posts a version again after the next one: the two deltas are the same.
func TestStepBack(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher := start(t, d, "A", t.TempDir())
	link := publisher.newFeed("weights")
	follower := start(t, d, "A", t.TempDir())
	follower.follow(link, 1)
	one := randomBytes(2 << 20)
	two := bytes.Clone(one)
	for i := 0; i < len(two); i += 1000 {
		two[i]++
	}
	first := write(t, map[string][]byte{"a": one})
	second := write(t, map[string][]byte{"a": two})
	for i, path := range []string{first, second, first, second} {
		head := publisher.post("weights", path)
		if (head.Delta != nil) != (i > 0) {
			t.Errorf("delta of version %d: %v", head.Seq, head.Delta)
		}
		if v := follower.await(head.Seq); i > 0 && v.Saved < v.Length*9/10 {
			t.Errorf("version %d: %d of %d bytes were not fetched", v.Seq, v.Saved, v.Length)
		}
		follower.settled(head.Seq)
	}
}
