package feed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// host is a node with feeds.
type host struct {
	t     *testing.T
	node  *peer.Node
	feeds *feed.Feeds
	data  string
	ran   chan feed.Version // with each command
}

// start starts a node with the feeds of its data directory.
func start(t *testing.T, d *peertest.Tracker, cluster, data string) *host {
	t.Helper()
	h := &host{t: t, node: d.Start(t, cluster, peertest.Data(data)), data: data, ran: make(chan feed.Version, 100)}
	run := func(_ context.Context, _ string, v feed.Version) error {
		h.ran <- v
		return nil
	}
	var err error
	if h.feeds, err = feed.Open(h.node, data, run, slog.New(slog.NewTextHandler(t.Output(), nil))); err != nil {
		t.Fatal(err)
	}
	h.feeds.StartAll()
	t.Cleanup(h.feeds.Close)
	return h
}

// stop ends the node.
func (h *host) stop() {
	h.t.Helper()
	h.feeds.Close()
	if err := h.node.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// newFeed makes a feed.
func (h *host) newFeed(name string) string {
	h.t.Helper()
	l := &feed.Link{Trackers: []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/1/p2p/12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN")}}
	if err := h.feeds.New(name, l); err != nil {
		h.t.Fatal(err)
	}
	return l.String()
}

// post seeds a path, and publishes it.
func (h *host) post(name, path string) *feed.Head {
	h.t.Helper()
	v, err := h.node.Seed(h.t.Context(), path, peer.SeedOptions{})
	if err == nil {
		err = v.Wait(h.t.Context())
	}
	if err != nil {
		h.t.Fatal(err)
	}
	head, err := h.feeds.Post(h.t.Context(), name, v, feed.PublishOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	return head
}

// follow follows a feed, and returns the directory of its versions.
func (h *host) follow(link string, keep int) (dir string) {
	h.t.Helper()
	dir = filepath.Join(h.t.TempDir(), "versions")
	if err := h.feeds.Follow(feed.Settings{Link: link, Dir: dir, Keep: keep, Exec: "true"}); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// await waits until the command was run with a version, and returns that.
func (h *host) await(seq uint64) feed.Version {
	h.t.Helper()
	for {
		select {
		case v := <-h.ran:
			if v.Seq == seq {
				return v
			}
		case <-time.After(time.Minute):
			h.t.Fatalf("version %d is not complete in a minute: %+v", seq, h.feeds.All())
		}
	}
}

// many adds files, so that the manifest is too long for a head.
func many(large []byte) map[string][]byte {
	files := map[string][]byte{"large": large}
	for i := range 1000 {
		files[fmt.Sprintf("file %d", i)] = []byte{byte(i)}
	}
	return files
}

// settled waits until old versions are removed.
func (h *host) settled(seq uint64) {
	h.t.Helper()
	peertest.Eventually(h.t, "old versions are removed", func() bool { return h.feeds.All()[0].Complete == seq })
}

// write writes files, and returns the path of their directory.
func write(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "content")
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// equal checks the files of a version.
func equal(t *testing.T, path string, files map[string][]byte) {
	t.Helper()
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(path, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of %s: %d bytes, %v", name, path, len(got), err)
		}
	}
}

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

// TestSameVersion posts a version that is still there under an older number.
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
	if v := follower.await(3); v.Path != filepath.Join(dir, "1") {
		t.Errorf("version 3 is at %s", v.Path)
	}
	equal(t, filepath.Join(dir, "latest"), one)
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
			return info.Newest == uint64(seq+2) && strings.HasSuffix(info.Error, "versions/"+name+": file exists")
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

// TestLostHead deletes the head of a publisher. It takes the newest one from the follower, and signs no number twice.
func TestLostHead(t *testing.T) {
	t.Parallel()
	d, data := peertest.NewTracker(), t.TempDir()
	publisher := start(t, d, "A", data)
	link := publisher.newFeed("config")
	follower := start(t, d, "A", t.TempDir())
	follower.follow(link, 1)
	for seq := range uint64(2) {
		publisher.post("config", write(t, map[string][]byte{"a": []byte(fmt.Sprint("version ", seq))}))
		follower.await(seq + 1)
	}
	publisher.stop()
	lost, err := filepath.Glob(filepath.Join(data, "feeds", "*", "head"))
	if err != nil || len(lost) != 1 {
		t.Fatalf("heads: %v, %v", lost, err)
	}
	if err := os.Remove(lost[0]); err != nil {
		t.Fatal(err)
	}
	publisher = start(t, d, "A", data)
	peertest.Eventually(t, "the publisher has the head of version 2", func() bool { return publisher.feeds.All()[0].Newest == 2 })
	if head := publisher.post("config", write(t, map[string][]byte{"a": []byte("next")})); head.Seq != 3 {
		t.Errorf("version %d, want 3", head.Seq)
	}
	follower.await(3)
	if _, err := os.Stat(lost[0]); err != nil {
		t.Error(err)
	}
}

// TestLostKey deletes the key of a feed: no version is signed with another one.
func TestLostKey(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	publisher := start(t, peertest.NewTracker(), "A", data)
	publisher.newFeed("config")
	keys, err := filepath.Glob(filepath.Join(data, "feeds", "*", "key"))
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys: %v, %v", keys, err)
	}
	if err := os.Remove(keys[0]); err != nil {
		t.Fatal(err)
	}
	path, _ := peertest.RandomFile(t, 1000)
	v, _ := peertest.Seed(t, publisher.node, path, peer.SeedOptions{})
	if h, err := publisher.feeds.Post(t.Context(), "config", v, feed.PublishOptions{}); err == nil {
		t.Errorf("version %d is signed with another key", h.Seq)
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
	settings := feed.Settings{Link: link, Dir: filepath.Join(t.TempDir(), "versions"), Keep: 1, Exec: "waits"}
	if err := feeds.Follow(settings); err != nil {
		t.Fatal(err)
	}
	other := settings
	other.Link = start(t, d, "A", t.TempDir()).newFeed("other")
	if err := feeds.Follow(other); err == nil {
		t.Error("two feeds have the same directory")
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

// TestNoDirectory follows a feed into a directory that cannot be made, and makes a feed whose link would be too long.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	h := start(t, peertest.NewTracker(), "A", t.TempDir())
	link := start(t, peertest.NewTracker(), "A", t.TempDir()).newFeed("config")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.feeds.Follow(feed.Settings{Link: link, Dir: filepath.Join(file, "versions")}); err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "the status has the error", func() bool { return strings.Contains(h.feeds.All()[0].Error, "not a directory") })
	if err := h.feeds.New(strings.Repeat("x", 1<<20), &feed.Link{}); err == nil {
		t.Error("a feed has a link that cannot be parsed")
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
