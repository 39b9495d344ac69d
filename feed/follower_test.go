package feed_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

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
