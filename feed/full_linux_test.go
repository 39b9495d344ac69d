package feed

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// The part of a version that was overtaken takes the room that the next one needs: it is removed.
func TestPartMakesRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=3584k"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	publisher, n := peertest.Start(t, "A"), peertest.Start(t, "A")
	f := newTestFollower(t, n)
	f.dir, f.group, f.command = dir, new(group.Group), func(context.Context, Version) error { return nil }
	_, half := peertest.RandomFile(t, 1<<20)
	_, other := peertest.RandomFile(t, 2<<20)
	version := func(seq uint64, content []byte) *Head {
		path := filepath.Join(t.TempDir(), "content")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		seeded, link := peertest.Seed(t, publisher, path, peer.SeedOptions{})
		encoded, err := seeded.Manifest().Encode()
		if err != nil {
			t.Fatal(err)
		}
		return &Head{Seq: seq, Link: link, Manifest: encoded}
	}
	if _, err := f.next(t.Context(), version(1, half)); err != nil {
		t.Fatal(err)
	}
	overtaken, newest := version(2, append(bytes.Clone(half), other[:1<<20]...)), version(3, other)
	overtaken.Link.Peers = nil
	ended := make(chan *Head)
	go func() {
		newer, _ := f.next(t.Context(), overtaken)
		ended <- newer
	}()
	peertest.Eventually(t, "half of version 2 has arrived", func() bool {
		part, err := n.Transfer(overtaken.Link.String())
		return err == nil && part.Status().Have == int64(len(half))
	})
	f.offer(newest)
	if newer := <-ended; newer != newest {
		t.Fatalf("version 2 has ended, and version %+v is next", newer)
	}
	if _, err := f.next(t.Context(), newest); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("version 3 beside a part of version 2: %v", err)
	}
	if _, err := f.next(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	peertest.EqualFile(t, f.latest(), other)
}

// A directory for versions on a read-only file system is rejected, whether it exists or not.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_RDONLY, ""); err != nil {
		t.Skip("a read-only file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	n := peertest.Start(t, "A")
	for _, path := range []string{dir, filepath.Join(dir, "versions")} {
		if err := makeDirectory(n, path); !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
