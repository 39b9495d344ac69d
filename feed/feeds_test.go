package feed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestVersions posts versions of all sizes to followers in two clusters. A version that has most in common with the one before is
// mostly not fetched.
func TestVersions(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher := start(t, d, "A", t.TempDir())
	link := publisher.newFeed("weights")
	followers := []*host{start(t, d, "A", t.TempDir()), start(t, d, "B", t.TempDir()), start(t, d, "B", t.TempDir())}
	dirs := make([]string, len(followers))
	for i, f := range followers {
		dirs[i] = f.follow(link, 2)
	}
	large := randomBytes(4 << 20)
	changed := bytes.Clone(large)
	for i := 0; i < len(changed); i += 1000 {
		changed[i]++
	}
	versions := []map[string][]byte{
		{"a": []byte("tiny"), "dir/b": randomBytes(100)},
		{"a": randomBytes(100_000), "b": randomBytes(20_000)},
		{"large": large, "a": []byte("x")},
		{"large": large, "0": []byte("a file before the large one")},
		{"large": changed, "0": []byte("a file before the large one")},
		many(changed),
	}
	var sum int64
	for i, files := range versions {
		head := publisher.post("weights", write(t, files))
		if head.Seq != uint64(i+1) {
			t.Fatalf("version %d, want %d", head.Seq, i+1)
		}
		for k, f := range followers {
			v := f.await(head.Seq)
			equal(t, v.Path, files)
			equal(t, filepath.Join(dirs[k], "latest"), files)
			if i != 2 && v.Saved < v.Length*9/10 {
				t.Errorf("version %d: %d of %d bytes were not fetched", head.Seq, v.Saved, v.Length)
			}
			sum += v.Saved
		}
	}
	for k, f := range followers {
		f.settled(6)
		entries, err := os.ReadDir(dirs[k])
		if err != nil || len(entries) != 3 || entries[0].Name() != "5" || entries[1].Name() != "6" {
			t.Errorf("versions kept: %v, %v", entries, err)
		}
		if info := f.feeds.All()[0]; info.Complete != 6 || info.Name != "weights" || info.Error != "" {
			t.Errorf("status of a follower: %+v", info)
		}
	}
	peertest.Eventually(t, "the publisher knows what the followers have", func() bool {
		var saved int64
		reports := publisher.feeds.All()[0].Followers
		for _, r := range reports {
			if r.Seq != 6 {
				return false
			}
			saved += r.Saved
		}
		return len(reports) == 3 && saved > 0
	})
}

// TestTwoFeedsOfOneContent follows two feeds that publish the same content: each has its own files, and removes its own.
func TestTwoFeedsOfOneContent(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, follower := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	names := []string{"first", "second"}
	var dirs []string
	for _, name := range names {
		dirs = append(dirs, follower.follow(publisher.newFeed(name), 1))
	}
	complete := func(seq uint64, files map[string][]byte) {
		t.Helper()
		path := write(t, files)
		for _, name := range names {
			publisher.post(name, path)
			follower.await(seq)
		}
		for i, dir := range dirs {
			equal(t, filepath.Join(dir, "latest"), files)
			peertest.Eventually(t, "old versions are removed", func() bool {
				entries, err := os.ReadDir(dir)
				return err == nil && len(entries) == 2 && entries[0].Name() == fmt.Sprint(seq) && follower.feeds.All()[i].Complete == seq
			})
		}
	}
	one := map[string][]byte{"a": randomBytes(2 << 20), "dir/b": []byte("b"), "empty": nil}
	complete(1, one)
	complete(2, map[string][]byte{"a": []byte("two")})
	complete(3, one)
	for _, name := range names {
		if err := follower.feeds.Remove(name); err != nil {
			t.Fatal(err)
		}
		equal(t, filepath.Join(dirs[1], "latest"), one)
	}
}

// TestFollowAgain calls Follow while a command runs: the same settings change nothing, other settings interrupt the command,
// which is run again. Meanwhile the feeds can be listed.
func TestFollowAgain(t *testing.T) {
	t.Parallel()
	d, ran := peertest.NewTracker(), make(chan feed.Version)
	publisher := start(t, d, "A", t.TempDir())
	link := publisher.newFeed("config")
	n := d.Start(t, "A", peertest.Data(t.TempDir()))
	interrupted, ended := make(chan struct{}), make(chan struct{})
	run := func(ctx context.Context, command string, v feed.Version) error {
		ran <- v
		if command == "waits" {
			<-ctx.Done()
			close(interrupted)
			<-ended
		}
		return nil
	}
	feeds, err := feed.Open(n, t.TempDir(), run, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(feeds.Close)
	settings := feed.Settings{Link: link, Dir: t.TempDir(), Keep: 1, Exec: "waits"}
	symlink := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink(settings.Dir, symlink), feeds.Follow(settings)); err != nil {
		t.Fatal(err)
	}
	other := settings
	other.Link = start(t, d, "A", t.TempDir()).newFeed("other")
	for _, other.Dir = range []string{settings.Dir, symlink} {
		if err := feeds.Follow(other); err == nil {
			t.Errorf("another feed is followed in %s", other.Dir)
		}
	}
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	<-ran
	if err := feeds.Follow(settings); err != nil {
		t.Fatal(err)
	}
	select {
	case <-interrupted:
		t.Fatal("the command was interrupted")
	default:
	}
	settings.Exec = "returns"
	again := make(chan error)
	go func() { again <- feeds.Follow(settings) }()
	<-interrupted
	if all := feeds.All(); len(all) != 1 || all[0].Members != 1 {
		t.Errorf("feeds: %+v", all)
	}
	close(ended)
	if err := <-again; err != nil {
		t.Fatal(err)
	}
	if v := <-ran; v.Seq != 1 {
		t.Errorf("version %d after the interrupt", v.Seq)
	}
}

// The feed of a version that was written without a transfer is removed: the version is served, and exists when the feed is followed
// again.
func TestRemovedFollowerServes(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher, h := start(t, d, "A", t.TempDir()), start(t, d, "A", t.TempDir())
	link := publisher.newFeed("config")
	settings := feed.Settings{Link: link, Dir: h.follow(link, 1), Exec: "true"}
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	id := h.await(1).ID
	h.settled(1)
	if err := h.feeds.Remove("config"); err != nil {
		t.Fatal(err)
	}
	served, err := h.node.Transfer(id)
	if err == nil {
		err = served.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := h.feeds.Follow(settings); err != nil {
		t.Fatal(err)
	}
	h.await(1)
}

// The path of the data directory has brackets, as patterns do: its feeds start again.
func TestDataDirectoryWithBrackets(t *testing.T) {
	t.Parallel()
	d, data := peertest.NewTracker(), filepath.Join(t.TempDir(), "[data]")
	publisher, h := start(t, d, "A", t.TempDir()), start(t, d, "A", data)
	h.follow(publisher.newFeed("config"), 1)
	publisher.post("config", write(t, map[string][]byte{"a": []byte("one")}))
	h.await(1)
	h.settled(1)
	h.stop()
	h = start(t, d, "A", data)
	if all := h.feeds.All(); len(all) != 1 || all[0].Complete != 1 {
		t.Errorf("feeds after a restart: %+v", all)
	}
}

// TestLongName makes a feed whose link would be too long.
func TestLongName(t *testing.T) {
	t.Parallel()
	h := start(t, peertest.NewTracker(), "A", t.TempDir())
	if err := h.feeds.New(strings.Repeat("x", 1<<20), &feed.Link{}); err == nil {
		t.Error("a feed has a link that cannot be parsed")
	}
}
