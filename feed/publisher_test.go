package feed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestRestartedPublisher starts a publisher again: it serves the delta of its last version to a follower that missed the version, and
// knows what the followers have.
func TestRestartedPublisher(t *testing.T) {
	t.Parallel()
	d, data, late := peertest.NewTracker(), t.TempDir(), t.TempDir()
	publisher := start(t, d, "A", data)
	link := publisher.newFeed("weights")
	follower := start(t, d, "A", late)
	follower.follow(link, 1)
	large := randomBytes(2 << 20)
	publisher.post("weights", write(t, map[string][]byte{"a": large}))
	follower.await(1)
	follower.settled(1)
	follower.stop()
	for i := 0; i < len(large); i += 1000 {
		large[i]++
	}
	if head := publisher.post("weights", write(t, map[string][]byte{"a": large})); head.Delta == nil {
		t.Fatal("version 2 has no delta")
	}
	publisher.stop()

	publisher = start(t, d, "A", data)
	follower = start(t, d, "A", late)
	if v := follower.await(2); v.Saved < v.Length*9/10 {
		t.Errorf("%d of %d bytes were not fetched", v.Saved, v.Length)
	}
	follower.settled(2)
	reported := func() bool {
		r := publisher.feeds.All()[0].Followers
		return len(r) == 1 && r[0].Seq == 2 && r[0].Saved > 0
	}
	peertest.Eventually(t, "the follower reports", reported)
	publisher.stop()
	publisher = start(t, d, "A", data)
	peertest.Eventually(t, "the follower reports again", reported)
}

// stateFile returns the path of a file in the directory of a publisher's only feed.
func stateFile(t *testing.T, data, name string) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(data, "feeds", "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("directories of feeds: %v, %v", dirs, err)
	}
	return filepath.Join(dirs[0], name)
}

// The disk of the data directory has no room for a delta: a version is posted without.
func TestNoRoomForDelta(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	data, large := t.TempDir(), randomBytes(2<<20)
	publisher := start(t, peertest.NewTracker(), "A", data)
	publisher.newFeed("weights")
	publisher.post("weights", write(t, map[string][]byte{"a": large}))
	delta := stateFile(t, data, "delta")
	if err := os.Symlink("/dev/full", delta); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(2); seq <= 3; seq++ {
		for i := 0; i < len(large); i += 1000 {
			large[i]++
		}
		if head := publisher.post("weights", write(t, map[string][]byte{"a": large})); (head.Delta != nil) != (seq == 3) {
			t.Errorf("version %d: %+v", seq, head)
		}
	}
}

// A publisher that starts again reads the delta of its newest version, which takes long: meanwhile it receives reports and newer heads.
func TestMessagesBesideDelta(t *testing.T) {
	t.Parallel()
	d, data, large := peertest.NewTracker(), t.TempDir(), randomBytes(2<<20)
	publisher, follower := start(t, d, "A", data), start(t, d, "A", t.TempDir())
	follower.follow(publisher.newFeed("weights"), 1)
	for seq := range uint64(2) {
		large[0]++
		head := publisher.post("weights", write(t, map[string][]byte{"a": large}))
		if (head.Delta != nil) != (seq > 0) {
			t.Fatalf("head %+v", head)
		}
		follower.await(seq + 1)
	}
	follower.settled(2)
	publisher.stop()
	delta := stateFile(t, data, "delta")
	if err := errors.Join(os.Remove(delta), syscall.Mkfifo(delta, 0o600)); err != nil {
		t.Fatal(err)
	}
	publisher = start(t, d, "A", data)
	t.Cleanup(func() {
		if err := os.WriteFile(delta, nil, 0); err != nil { // the end of the FIFO
			t.Error(err)
		}
	})
	peertest.Eventually(t, "the follower reports", func() bool {
		r := publisher.feeds.All()[0].Followers
		return len(r) == 1 && r[0].Seq == 2
	})
}

// TestLostHead deletes the head of a publisher. It takes the newest one from the follower, and signs no number twice.
func TestLostHead(t *testing.T) {
	t.Parallel()
	d, data := peertest.NewTracker(), t.TempDir()
	publisher, follower := start(t, d, "A", data), start(t, d, "A", t.TempDir())
	follower.follow(publisher.newFeed("config"), 1)
	for seq := range uint64(2) {
		publisher.post("config", write(t, map[string][]byte{"a": []byte(fmt.Sprint("version ", seq))}))
		follower.await(seq + 1)
	}
	publisher.stop()
	lost := stateFile(t, data, "head")
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	publisher = start(t, d, "A", data)
	peertest.Eventually(t, "the publisher has the head of version 2", func() bool { return publisher.feeds.All()[0].Newest == 2 })
	if head := publisher.post("config", write(t, map[string][]byte{"a": []byte("next")})); head.Seq != 3 {
		t.Errorf("version %d, want 3", head.Seq)
	}
	follower.await(3)
	if _, err := os.Stat(lost); err != nil {
		t.Error(err)
	}
}

// TestRestoredPublisher puts an earlier head back, as from a backup, and posts while the follower is off: the status of the publisher
// says that no follower gets that version, until the next one.
func TestRestoredPublisher(t *testing.T) {
	t.Parallel()
	for posted, want := range map[uint64]string{
		1: "another version 2 was posted with the feed's key",
		2: "no follower gets the version 2 that was posted last, since version 3 was posted before it",
	} {
		t.Run(fmt.Sprint(posted, " forgotten"), func(t *testing.T) {
			t.Parallel()
			d, data := peertest.NewTracker(), t.TempDir()
			publisher, follower := start(t, d, "A", data), start(t, d, "A", t.TempDir())
			follower.follow(publisher.newFeed("config"), 1)
			post := func(text string) *feed.Head {
				return publisher.post("config", write(t, map[string][]byte{"a": []byte(text)}))
			}
			post("first")
			follower.await(1)
			publisher.stop()
			path := stateFile(t, data, "head")
			backup, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			publisher = start(t, d, "A", data)
			for i := range posted {
				follower.await(post(fmt.Sprint("forgotten ", i)).Seq)
			}
			follower.settled(posted + 1)
			publisher.stop()
			follower.stop()
			if err := os.WriteFile(path, backup, 0o600); err != nil {
				t.Fatal(err)
			}
			publisher = start(t, d, "A", data)
			if h := post("fork"); h.Seq != 2 {
				t.Fatalf("version %d, want 2", h.Seq)
			}
			follower = start(t, d, "A", follower.data)
			peertest.Eventually(t, "the publisher knows of the other version", func() bool {
				return strings.HasPrefix(publisher.feeds.All()[0].Error, want)
			})
			h := post("next")
			if h.Seq != posted+2 {
				t.Errorf("version %d, want %d", h.Seq, posted+2)
			}
			follower.await(h.Seq)
			if text := publisher.feeds.All()[0].Error; text != "" {
				t.Error(text)
			}
		})
	}
}

// TestLostKey deletes the key of a feed: no version is signed with another one.
func TestLostKey(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	publisher := start(t, peertest.NewTracker(), "A", data)
	publisher.newFeed("config")
	if err := os.Remove(stateFile(t, data, "key")); err != nil {
		t.Fatal(err)
	}
	path, _ := peertest.RandomFile(t, 1000)
	v, _ := peertest.Seed(t, publisher.node, path, peer.SeedOptions{})
	if h, err := publisher.feeds.Post(t.Context(), "config", v, feed.PublishOptions{}); err == nil {
		t.Errorf("version %d is signed with another key", h.Seq)
	}
}

// TestLogHasNoIDs checks that the log has the short names of feeds, also in errors: with an id anyone can follow a feed.
func TestLogHasNoIDs(t *testing.T) {
	t.Parallel()
	d, data := peertest.NewTracker(), t.TempDir()
	publisher, follower := start(t, d, "A", data), start(t, d, "B", t.TempDir())
	link := publisher.newFeed("weights")
	path, _ := peertest.RandomFile(t, 1<<20)
	head := publisher.post("weights", path)
	follower.follow(link, 1)
	follower.settled(1) // the log has a line for that
	publisher.stop()
	// The feed does not start again, and the error has the path of its head.
	if err := os.WriteFile(stateFile(t, data, "head"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	publisher = start(t, d, "A", data)
	l, err := feed.ParseLink(link)
	if err != nil {
		t.Fatal(err)
	}
	for h, line := range map[*host]string{publisher: "a feed does not start", follower: "a version is complete"} {
		text := h.log.String()
		if !strings.Contains(text, line) || !strings.Contains(text, "feed=c-") {
			t.Errorf("the log does not have %q with the feed:\n%s", line, text)
		}
		if strings.Contains(text, l.ID()) || strings.Contains(text, head.Link.Manifest.String()) {
			t.Errorf("the log has an id:\n%s", text)
		}
	}
}

// TestChangedVersion changes a file after it was seeded: followers could not fetch it, and it is not posted.
func TestChangedVersion(t *testing.T) {
	t.Parallel()
	publisher := start(t, peertest.NewTracker(), "A", t.TempDir())
	publisher.newFeed("weights")
	path, content := peertest.RandomFile(t, 1<<20)
	v, _ := peertest.Seed(t, publisher.node, path, peer.SeedOptions{})
	if err := os.WriteFile(path, content[1:], 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := publisher.feeds.Post(t.Context(), "weights", v, feed.PublishOptions{})
	if err == nil || !strings.Contains(err.Error(), "has changed since it was seeded") {
		t.Errorf("posted: %v, %v", h, err)
	}
	if info := publisher.feeds.All()[0]; info.Newest != 0 {
		t.Errorf("version %d after a failed post", info.Newest)
	}
}

// TestReplacedVersionBefore puts a link in the place of the version before: no delta is made from the files that it leads to.
func TestReplacedVersionBefore(t *testing.T) {
	t.Parallel()
	publisher := start(t, peertest.NewTracker(), "A", t.TempDir())
	for _, kind := range []string{"file", "directory"} {
		publisher.newFeed(kind)
		parent, content := t.TempDir(), make([]byte, 2<<20)
		version := func(name string) string {
			dir := filepath.Join(parent, name)
			copy(content, name)
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "file"), content, 0o644)); err != nil {
				t.Fatal(err)
			}
			if kind == "file" {
				return filepath.Join(dir, "file")
			}
			return dir
		}
		before := version("before")
		publisher.post(kind, before)
		if err := errors.Join(os.Rename(before, before+" moved"), os.Symlink(version("secret"), before)); err != nil {
			t.Fatal(err)
		}
		if head := publisher.post(kind, version("next")); head.Delta != nil {
			t.Errorf("%s: a delta of the files that a link leads to", kind)
		}
	}
}

// TestTwoPublishers posts versions of one feed from two nodes, one after the other: each signs the next number.
func TestTwoPublishers(t *testing.T) {
	t.Parallel()
	d, data, second := peertest.NewTracker(), t.TempDir(), t.TempDir()
	publisher := start(t, d, "A", data)
	link := publisher.newFeed("config")
	if err := os.CopyFS(filepath.Join(second, "feeds"), os.DirFS(filepath.Join(data, "feeds"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(stateFile(t, second, "key"), 0o600); err != nil {
		t.Fatal(err)
	}
	publishers := []*host{publisher, start(t, d, "A", second)}
	follower := start(t, d, "A", t.TempDir())
	follower.follow(link, 1)
	for i := range 4 {
		p := publishers[i%2]
		peertest.Eventually(t, "the publisher has the head of the other one", func() bool { return p.feeds.All()[0].Newest == uint64(i) })
		head := p.post("config", write(t, map[string][]byte{"a": fmt.Append(nil, "version ", i)}))
		if head.Seq != uint64(i+1) {
			t.Fatalf("version %d, want %d", head.Seq, i+1)
		}
		follower.await(head.Seq)
	}
}

// TestPublisherLeaves ends a publisher after a version that it pushed: a later follower fetches it from the first one before
// ServeDelay.
func TestPublisherLeaves(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	publisher := start(t, d, "A", t.TempDir())
	link := publisher.newFeed("config")
	first := start(t, d, "A", t.TempDir())
	first.follow(link, 1)
	publisher.post("config", write(t, map[string][]byte{"a": []byte("1")}))
	first.await(1)
	peertest.Eventually(t, "the follower has a session with the publisher", func() bool {
		all := publisher.feeds.All()[0].Followers
		return len(all) == 1 && all[0].Seq == 1
	})
	files := map[string][]byte{"a": randomBytes(100_000)}
	pushed := publisher.post("config", write(t, files))
	first.await(2)
	first.settled(2)
	if _, err := first.node.Transfer(pushed.Link.String()); err == nil {
		t.Fatal("a version that was pushed has a transfer")
	}
	publisher.stop()
	stopped := time.Now()
	late := start(t, d, "A", t.TempDir())
	late.follow(link, 1)
	equal(t, late.await(2).Path, files)
	if took := time.Since(stopped); took >= feed.ServeDelay {
		t.Errorf("the version was fetched after %v", took)
	}
}
