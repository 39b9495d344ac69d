package feed

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestSlowCommand runs a command for 11 seconds: the status has it after 10.
func TestSlowCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Follower{Complete: func(context.Context, Version) error {
			time.Sleep(slowCommand + time.Second)
			return errors.New("failed")
		}}
		f.setStatus(func(s *Status) { s.Newest = 7 })
		done := make(chan error, 1)
		go func() { done <- f.call(t.Context(), Version{Seq: 7}) }()
		time.Sleep(slowCommand)
		if st := f.Status(); st.Error != "" {
			t.Errorf("status after 10 s: %q", st.Error)
		}
		time.Sleep(time.Second - 1)
		if st := f.Status(); !strings.Contains(st.Error, "the command of version 7 has run for 11s") {
			t.Errorf("status after 11 s: %q", st.Error)
		}
		err := <-done
		if st := f.Status(); st.Error != "" || err == nil {
			t.Errorf("status at the end: %q, %v", st.Error, err)
		}
	})
}

// TestPartialVersionsBounded starts to fetch ten versions that do not arrive: a few incomplete ones are kept.
func TestPartialVersionsBounded(t *testing.T) {
	t.Parallel()
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := &Follower{Node: n, Dir: t.TempDir(), State: t.TempDir(), Keep: 1, Log: slog.New(slog.DiscardHandler)}
	for seq := range uint64(10) {
		path, _ := peertest.RandomFile(t, 100_000)
		v, link := peertest.Seed(t, publisher, path, peer.SeedOptions{})
		encoded, err := v.Manifest().Encode()
		if err != nil {
			t.Fatal(err)
		}
		link.Peers = nil
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err = f.fetch(ctx, &Head{Seq: seq + 1, Link: link, Manifest: encoded})
		cancel()
		if err == nil {
			t.Fatal("a version has arrived")
		}
	}
	if len(f.kept.Partial) != maxPartial || len(n.Transfers()) != maxPartial {
		t.Errorf("versions %d are kept, %d transfers, want %d", f.kept.Partial, len(n.Transfers()), maxPartial)
	}
	var again Follower
	again.State = f.State
	if err := again.load(); err != nil || len(again.kept.Partial) != maxPartial {
		t.Errorf("%s has versions %d, %v", filepath.Join(f.State, followerFile), again.kept.Partial, err)
	}
}

// TestSentVersionServed writes a version whose content was sent, serves it to another node, and removes it.
func TestSentVersionServed(t *testing.T) {
	t.Parallel()
	publisher, n, other := peertest.Start(t, "A"), peertest.Start(t, "A"), peertest.Start(t, "A")
	f := &Follower{Node: n, Dir: t.TempDir(), State: t.TempDir(), Keep: 1, Log: slog.New(slog.DiscardHandler)}
	path, content := peertest.RandomFile(t, 100_000)
	seeded, link := peertest.Seed(t, publisher, path, peer.SeedOptions{})
	encoded, err := seeded.Manifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	link.Peers = nil
	h := &Head{Seq: 1, Link: link, Manifest: encoded, Inline: content}
	v, err := f.fetch(t.Context(), h)
	if err != nil || v.Saved != int64(len(content)) || len(n.Transfers()) != 0 {
		t.Fatalf("version %+v, %d transfers, %v", v, len(n.Transfers()), err)
	}
	again := Follower{State: f.State}
	if err := again.load(); err != nil || !slices.Equal(again.kept.Partial, []uint64{1}) {
		t.Errorf("after a crash the incomplete versions are %d, %v", again.kept.Partial, err)
	}
	if err := errors.Join(v.flush(), f.settle(h, v)); err != nil {
		t.Fatal(err)
	}
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
	if err := f.remove(1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(v.Path); !os.IsNotExist(err) || len(n.Transfers()) != 0 {
		t.Errorf("%s: %v; %d transfers", v.Path, err, len(n.Transfers()))
	}
	if left, err := os.ReadDir(f.State); err != nil || len(left) != 1 {
		t.Errorf("state: %v, %v", left, err)
	}

	corrupt := *h
	corrupt.Seq, corrupt.Inline = 2, make([]byte, len(content))
	link.Peers = publisher.Addrs()
	if v, err = f.fetch(t.Context(), &corrupt); err != nil || v.Saved != 0 {
		t.Errorf("with other content: version %+v, %v", v, err)
	}
}
