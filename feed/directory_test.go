package feed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestFilesOfTheUser follows a feed in a directory that has a file of the user's with the name of a version.
func TestFilesOfTheUser(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher := start(t, d, "A", t.TempDir())
	link := publisher.newFeed("config")
	follower := start(t, d, "A", t.TempDir())
	dir := filepath.Join(t.TempDir(), "versions")
	mine := map[string][]byte{"1": []byte("mine"), "latest.new": []byte("mine")}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, b := range mine {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../elsewhere", filepath.Join(dir, "latest")); err != nil {
		t.Fatal(err)
	}
	if err := follower.feeds.Follow(feed.Settings{Link: link, Dir: dir, Exec: "true"}); err != nil {
		t.Fatal(err)
	}
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	peertest.Eventually(t, "the follower says why it has not version 1", func() bool {
		info := follower.feeds.All()[0]
		return info.Newest == 1 && strings.Contains(info.Error, "exists")
	})
	for seq, name := range []string{"latest", "latest.new"} {
		publisher.post("config", write(t, map[string][]byte{"a": []byte(name)}))
		peertest.Eventually(t, "the follower says why it cannot replace "+name, func() bool {
			info := follower.feeds.All()[0]
			return info.Newest == uint64(seq+2) && strings.HasSuffix(info.Error, "versions/"+name+" exists and is not a link to a version: move it away")
		})
		equal(t, dir, mine)
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		delete(mine, name)
	}
	publisher.post("config", write(t, map[string][]byte{"a": []byte("four")}))
	follower.await(4)
	follower.settled(4)
	equal(t, dir, mine)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("entries: %v, %v", entries, err)
	}
	if info := follower.feeds.All()[0]; info.Error != "" {
		t.Errorf("error after version 4: %s", info.Error)
	}
}

// TestDirectoryOfTheUser changes the directory of the versions while a feed is followed. A version that could not be fetched is fetched
// once it can be.
func TestDirectoryOfTheUser(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, follower := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	dir := follower.follow(publisher.newFeed("config"), 1)
	files := map[string][]byte{"a": nil}
	seq := uint64(0)
	post := func() {
		t.Helper()
		seq++
		files["a"] = fmt.Append(nil, "version ", seq)
		publisher.post("config", write(t, files))
	}
	await := func(do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		follower.await(seq)
		follower.settled(seq)
		equal(t, filepath.Join(dir, "latest"), files)
	}
	rejected := func(reason string) {
		t.Helper()
		peertest.Eventually(t, "the status says why", func() bool {
			info := follower.feeds.All()[0]
			return info.Newest == seq && strings.Contains(info.Error, reason)
		})
	}
	mine := filepath.Join(dir, "1")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(mine, []byte("mine"), 0o644)); err != nil {
		t.Fatal(err)
	}
	post()
	rejected("exists")
	await(func() error { return os.Remove(mine) })
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	post()
	await(func() error { return nil })
	moved := dir + "-moved"
	if err := errors.Join(os.Rename(dir, moved), os.WriteFile(dir, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	post()
	rejected("not a directory")
	await(func() error { return errors.Join(os.Remove(dir), os.Rename(moved, dir)) })
}

// TestSeededVersion seeds a version, which is the user's from then on: it stays when the follower removes old versions.
func TestSeededVersion(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, follower := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	dir := follower.follow(publisher.newFeed("config"), 1)
	first := map[string][]byte{"a": []byte("one")}
	publisher.post("config", write(t, first))
	seeded := follower.await(1).Path
	follower.settled(1)
	if _, err := follower.node.Seed(t.Context(), seeded, peer.SeedOptions{}); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(2); seq <= 3; seq++ {
		publisher.post("config", write(t, map[string][]byte{"a": fmt.Append(nil, "version ", seq)}))
		follower.await(seq)
		follower.settled(seq)
	}
	equal(t, seeded, first)
	if _, err := follower.node.Transfer(seeded); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "2")); !os.IsNotExist(err) {
		t.Errorf("version 2 is still there: %v", err)
	}
}

// TestVersionsPermanent follows a feed at a node that ends transfers after an hour: it does not end a version.
func TestVersionsPermanent(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, follower := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	follower.node.SetKeep(peer.Keep{For: time.Hour, Delete: true})
	follower.follow(publisher.newFeed("weights"), 1)
	publisher.post("weights", write(t, map[string][]byte{"a": randomBytes(2 << 20)}))
	version, err := follower.node.Transfer(follower.await(1).Path)
	if err != nil {
		t.Fatal(err)
	}
	if ends := version.Status().Ends; !ends.IsZero() {
		t.Errorf("the version ends at %v", ends)
	}
}

// TestTransferAtVersion fetches other content to the path of a version. It stays when the follower removes old versions.
func TestTransferAtVersion(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, follower := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	dir := follower.follow(publisher.newFeed("config"), 1)
	mine := map[string][]byte{"a": []byte("mine")}
	seed, err := publisher.node.Seed(t.Context(), write(t, mine), peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "1")
	get, err := follower.node.Get(seed.Link(), path, peer.GetOptions{})
	if err == nil {
		err = get.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	peertest.Eventually(t, "the status says why", func() bool {
		return strings.Contains(follower.feeds.All()[0].Error, "another transfer")
	})
	publisher.post("config", write(t, map[string][]byte{"a": []byte("two")}))
	follower.await(2)
	follower.settled(2)
	equal(t, path, mine)
	if _, err := follower.node.Transfer(path); err != nil {
		t.Error(err)
	}
}

// TestDirectoryTaken follows a feed into the data directory, and into a seed: that fails, and nothing is made there.
func TestDirectoryTaken(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, follower := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	link := publisher.newFeed("config")
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	seed := write(t, map[string][]byte{"a": []byte("mine")})
	if _, err := follower.node.Seed(t.Context(), seed, peer.SeedOptions{}); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{follower.data: "data directory", seed: "another transfer"} {
		dir = filepath.Join(dir, "versions")
		if err := follower.feeds.Follow(feed.Settings{Link: link, Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if all := follower.feeds.All(); len(all) > 0 {
		t.Errorf("feeds: %+v", all)
	}
}

// TestNoDirectory follows a feed into a directory that cannot be made: that fails. If it cannot be made when the node starts
// again, it is made once that is possible.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, h := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	parent := filepath.Join(t.TempDir(), "parent")
	settings := feed.Settings{Link: publisher.newFeed("config"), Dir: filepath.Join(parent, "versions"), Exec: "true"}
	if err := os.WriteFile(parent, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.feeds.Follow(settings); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("below a file: %v", err)
	}
	if all := h.feeds.All(); len(all) > 0 {
		t.Errorf("feeds: %+v", all)
	}
	if err := errors.Join(os.Remove(parent), h.feeds.Follow(settings)); err != nil {
		t.Fatal(err)
	}
	h.stop()
	if err := errors.Join(os.RemoveAll(parent), os.WriteFile(parent, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	h = start(t, d, "A", h.data)
	failed := func() bool { return strings.Contains(h.feeds.All()[0].Error, "not a directory") }
	peertest.Eventually(t, "the status has the error", failed)
	if err := h.feeds.Follow(settings); err == nil {
		t.Error("no error while the directory cannot be made")
	}
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	peertest.Eventually(t, "the status has the error of version 1", func() bool { return failed() && h.feeds.All()[0].Newest == 1 })
	if err := os.Remove(parent); err != nil {
		t.Fatal(err)
	}
	h.await(1)
	h.settled(1)
	if info := h.feeds.All()[0]; info.Error != "" {
		t.Errorf("error after version 1: %s", info.Error)
	}
}

// The manifest of a version is at no node that is reached. Without a transfer, only the status of the feed has the reason.
func TestStatusOfUnreachableVersion(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, h := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	link, files := publisher.newFeed("weights"), many(randomBytes(1<<20))
	path := write(t, files)
	publisher.post("weights", path)
	for _, served := range publisher.node.Transfers() {
		if _, err := publisher.node.Remove(served, false); err != nil {
			t.Fatal(err)
		}
	}
	dir := h.follow(link, 1)
	peertest.Eventually(t, "the status has the reason", func() bool {
		info := h.feeds.All()[0]
		return info.Newest == 1 && strings.Contains(info.Error, "looking for the content")
	})
	if _, err := publisher.node.Seed(t.Context(), path, peer.SeedOptions{}); err != nil {
		t.Fatal(err)
	}
	equal(t, h.await(1).Path, files)
	h.settled(1)
	if info := h.feeds.All()[0]; info.Error != "" {
		t.Errorf("%s: %s", dir, info.Error)
	}
}

// The settings of a feed cannot be written: the follower continues with the earlier ones.
func TestFailedChangeOfSettings(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, h := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	link := publisher.newFeed("config")
	settings := feed.Settings{Link: link, Dir: h.follow(link, 1), Keep: 2, Exec: "true"}
	l, err := feed.ParseLink(link)
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(h.data, "feeds", l.ID())
	if err := errors.Join(os.Rename(state, state+".moved"), os.WriteFile(state, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := h.feeds.Follow(settings); err == nil {
		t.Error("the settings were changed")
	}
	if err := errors.Join(os.Remove(state), os.Rename(state+".moved", state)); err != nil {
		t.Fatal(err)
	}
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	h.await(1)
}
