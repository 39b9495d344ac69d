package feed

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// newTestFollower returns a follower of no feed.
func newTestFollower(t *testing.T, n *peer.Node) *follower {
	t.Helper()
	state := filepath.Join(t.TempDir(), "[state]") // no pattern
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	return &follower{
		heads: &heads{log: slog.New(slog.NewTextHandler(t.Output(), nil))}, node: n, dir: t.TempDir(), state: state, keep: 1,
		offered: make(chan *Head, 1), left: make(chan struct{}, 1),
	}
}

// TestSlowCommand runs a command for 11 seconds: the status has it after 10.
func TestSlowCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newTestFollower(t, new(peer.Node))
		f.group, f.log = new(group.Group), slog.New(slog.NewTextHandler(&log, nil))
		f.command = func(context.Context, Version) error {
			time.Sleep(slowCommand + time.Second)
			return errors.New("failed")
		}
		status := func() (info Info) {
			f.describe(&info)
			return info
		}
		done := make(chan error, 1)
		go func() { done <- f.call(t.Context(), Version{Seq: 7}) }()
		time.Sleep(slowCommand)
		if st := status(); st.Error != "" {
			t.Errorf("status after 10 s: %q", st.Error)
		}
		time.Sleep(time.Second - 1)
		if st := status(); !strings.Contains(st.Error, "the command of version 7 has run for 11s") {
			t.Errorf("status after 11 s: %q", st.Error)
		}
		synctest.Wait()
		if !strings.Contains(log.String(), "does not end") {
			t.Errorf("log: %s", log.String())
		}
		err := <-done
		f.failed = "the next version was not fetched"
		const failed = "the command of version 7 failed: failed"
		if st := status(); st.Error != f.failed || st.Last.Error != failed || err == nil || err.Error() != failed {
			t.Errorf("status at the end: %q, %+v, %v", st.Error, st.Last, err)
		}
	})
}

// TestPartialVersionsBounded starts to fetch ten versions that do not arrive: a few incomplete ones are kept.
func TestPartialVersionsBounded(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	for seq := range uint64(10) {
		fetchPart(t, publisher, f, seq+1)
	}
	if len(f.kept.Versions) != maxPartial || len(n.Transfers()) != maxPartial {
		t.Errorf("versions %d are kept, %d transfers, want %d", f.kept.Versions, len(n.Transfers()), maxPartial)
	}
	path := filepath.Join(f.state, followerFile)
	if b, err := os.ReadFile(path); err != nil || !bytes.Contains(b, []byte("[8,9,10]")) {
		t.Errorf("%s has %s, %v", path, b, err)
	}
}

// fetchPart starts to fetch a version that does not arrive.
func fetchPart(t *testing.T, publisher *peer.Node, f *follower, seq uint64) {
	t.Helper()
	_, link, encoded := seedTestVersion(t, publisher)
	link.Peers = nil
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := f.fetch(ctx, &Head{Seq: seq, Link: link, Manifest: encoded}); err == nil {
		t.Fatal("a version has arrived")
	}
}

// The follower is stopped while the command of a version runs. The versions after it do not arrive: `latest` leads to it still.
func TestLatestVersionStays(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	content, link, encoded := seedTestVersion(t, publisher)
	fetchVersion(t, f, &Head{Seq: 1, Link: link, Manifest: encoded, Inline: content})
	for seq := range uint64(2 * maxPartial) {
		fetchPart(t, publisher, f, seq+2)
	}
	peertest.EqualFile(t, f.latest(), content)
	if len(f.kept.Versions) != 1+maxPartial {
		t.Errorf("versions %d are kept", f.kept.Versions)
	}
}

// A newer version was written when the process was killed, and its head is not known after that: the earlier version is complete first,
// and stays.
func TestCompleteBesideNewerVersion(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	content, link, encoded := seedTestVersion(t, publisher)
	f.kept.Versions = []uint64{7}
	h := &Head{Seq: 5, Link: link, Manifest: encoded, Inline: content}
	v := fetchVersion(t, f, h)
	f.settle(h, &v.Version)
	peertest.EqualFile(t, f.latest(), content)
	if !slices.Equal(f.kept.Versions, []uint64{5}) {
		t.Errorf("versions %d are kept", f.kept.Versions)
	}
}

// fetchVersion fetches a version to the disk.
func fetchVersion(t *testing.T, f *follower, h *Head) *fetched {
	t.Helper()
	v, err := f.fetch(t.Context(), h)
	if err == nil {
		err = v.flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// seedTestVersion seeds a file. It returns its content, link and encoded manifest.
func seedTestVersion(t *testing.T, publisher *peer.Node) (content []byte, link *proto.Link, encoded []byte) {
	t.Helper()
	path, content := peertest.RandomFile(t, 100_000)
	seeded, link := peertest.Seed(t, publisher, path, peer.SeedOptions{})
	encoded, err := seeded.Manifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return content, link, encoded
}

// TestOvertakenContentPostedAgain ends the fetch of a version, as a newer one does, whose content is then posted again.
func TestOvertakenContentPostedAgain(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	content, link, encoded := seedTestVersion(t, publisher)
	unreached := *link
	unreached.Peers = nil
	ctx, overtake := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := f.fetch(ctx, &Head{Seq: 1, Link: &unreached, Manifest: encoded})
		ended <- err
	}()
	peertest.Eventually(t, "version 1 is created", func() bool {
		_, err := os.Stat(f.path(1))
		return err == nil
	})
	overtake()
	if err := <-ended; err == nil {
		t.Fatal("version 1 has arrived")
	}
	h := &Head{Seq: 2, Link: link, Manifest: encoded}
	v, err := f.fetch(t.Context(), h)
	if err == nil {
		err = v.flush()
	}
	if err != nil || v.Saved != 0 {
		t.Fatalf("version %+v, %v", v, err)
	}
	f.settle(h, &v.Version)
	if b, err := os.ReadFile(filepath.Join(f.dir, "latest")); err != nil || !bytes.Equal(b, content) {
		t.Errorf("latest: %d bytes, %v", len(b), err)
	}
	if _, err := os.Stat(f.path(1)); !os.IsNotExist(err) {
		t.Errorf("version 1 is not removed: %v", err)
	}
}

// TestSentVersionServed writes a version whose content was sent, serves it to another node, and removes it.
func TestSentVersionServed(t *testing.T) {
	t.Parallel()
	publisher, n, other := peertest.Start(t, "A"), peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	content, link, encoded := seedTestVersion(t, publisher)
	link.Peers = nil
	h := &Head{Seq: 1, Link: link, Manifest: encoded, Inline: content}
	v, err := f.fetch(t.Context(), h)
	if err != nil || v.Saved != int64(len(content)) || len(n.Transfers()) != 0 {
		t.Fatalf("version %+v, %d transfers, %v", v, len(n.Transfers()), err)
	}
	again := newTestFollower(t, n)
	again.dir, again.state = f.dir, f.state
	if err := again.load(filepath.Join(f.state, followerFile)); err != nil || !slices.Equal(again.kept.Versions, []uint64{1}) {
		t.Errorf("after a crash the incomplete versions are %d, %v", again.kept.Versions, err)
	}
	if err := v.flush(); err != nil {
		t.Fatal(err)
	}
	pushed := *h
	pushed.Inline = nil // it is not in the head of a larger version
	if v, err = again.fetch(t.Context(), &pushed); err != nil || v.Saved != int64(len(content)) {
		t.Fatalf("after a crash: %+v, %v", v, err)
	}
	if err := v.flush(); err != nil {
		t.Fatal(err)
	}
	f.settle(h, &v.Version)
	f.serve(h)
	served, err := n.Transfer(link.String())
	if err == nil {
		err = served.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	from := *link
	from.Peers = n.Addrs()
	get, err := other.Get(&from, filepath.Join(t.TempDir(), "copy"), peer.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
	if _, err := f.remove(1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(v.Path); !os.IsNotExist(err) || len(n.Transfers()) != 0 {
		t.Errorf("%s: %v; %d transfers", v.Path, err, len(n.Transfers()))
	}
	if left, err := os.ReadDir(f.state); err != nil || len(left) != 1 {
		t.Errorf("state: %v, %v", left, err)
	}

	corrupt := *h
	corrupt.Seq, corrupt.Inline = 2, make([]byte, len(content))
	link.Peers = publisher.Addrs()
	if v, err = f.fetch(t.Context(), &corrupt); err != nil || v.Saved != 0 {
		t.Errorf("with other content: version %+v, %v", v, err)
	}
}

// logHook is called with each line of a log.
type logHook func()

func (h logHook) Write(line []byte) (int, error) {
	h()
	return len(line), nil
}

// After the follower has looked for a version, another call fetches it to another path, such as for a feed with the same content: the
// version is then copied from there.
func TestVersionFetchedElsewhereFirst(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	content, link, encoded := seedTestVersion(t, publisher)
	get := sync.OnceFunc(func() { peertest.Wait(t, peertest.Get(t, n, link, filepath.Join(t.TempDir(), "elsewhere"))) })
	f.log = slog.New(slog.NewTextHandler(logHook(get), nil)) // the content that came with the head is wrong
	h := &Head{Seq: 1, Link: link, Manifest: encoded, Inline: make([]byte, len(content))}
	var elsewhere *peer.ElsewhereError
	if _, err := f.fetch(t.Context(), h); !errors.As(err, &elsewhere) {
		t.Fatal(err)
	}
	v := fetchVersion(t, f, h)
	peertest.EqualFile(t, v.Path, content)
}

// TestChangedVersionServed replaces a file of a version whose content was sent, before a transfer serves it: the transfer fails, and
// the user's file stays.
func TestChangedVersionServed(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	content, link, encoded := seedTestVersion(t, publisher)
	h := &Head{Seq: 1, Link: link, Manifest: encoded, Inline: content}
	v := fetchVersion(t, f, h)
	f.settle(h, &v.Version)
	mine := []byte("mine")
	err := errors.Join(os.WriteFile(v.Path+".mine", mine, 0o644), os.Rename(v.Path+".mine", v.Path))
	if err != nil {
		t.Fatal(err)
	}
	f.serve(h)
	served, err := n.Transfer(link.String())
	if err != nil {
		t.Fatal(err)
	}
	var exists *store.ExistsError
	if err := served.Wait(t.Context()); !errors.As(err, &exists) {
		t.Errorf("the transfer of a changed version: %v", err)
	}
	if _, err := f.remove(1); err != nil {
		t.Error(err)
	}
	if is, err := os.ReadFile(v.Path); err != nil || !bytes.Equal(is, mine) {
		t.Errorf("%s has %d bytes, %v", v.Path, len(is), err)
	}
}

// The publisher leaves while the command runs with a version that was sent: the follower serves it.
func TestVersionServedDuringCommand(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	f.group = new(group.Group)
	end := make(chan struct{})
	f.command = func(context.Context, Version) error {
		<-end
		return nil
	}
	content, link, encoded := seedTestVersion(t, publisher)
	h := &Head{Seq: 1, Link: link, Manifest: encoded, Inline: content}
	v, err := f.fetch(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	finished := make(chan error)
	go func() { finished <- f.finish(t.Context(), h, v) }()
	f.left <- struct{}{}
	peertest.Eventually(t, "the version is served", func() bool {
		_, err := n.Transfer(link.String())
		return err == nil
	})
	close(end)
	if err := <-finished; err != nil || f.kept.Complete != 1 {
		t.Errorf("version %d is complete, %v", f.kept.Complete, err)
	}
}
