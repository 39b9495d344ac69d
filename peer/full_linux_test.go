package peer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestFullDisk has a get run into a full disk; with room it goes on from there.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	_, link, content := peertest.SeedRandom(t, a, 12<<20, peer.SeedOptions{})
	out := filepath.Join(dir, "out")
	get := peertest.Get(t, b, link, out)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := get.Wait(ctx)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("a full disk: %v", err)
	}
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=32m"); err != nil {
		t.Fatal(err)
	}
	get = peertest.Get(t, b, link, out)
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	if st := get.Status(); st.Traffic.WANIn >= int64(len(content)) {
		t.Errorf("%d bytes came again", st.Traffic.WANIn)
	}
	if err := errors.Join(b.Close(), os.Remove(out)); err != nil {
		t.Fatal(err)
	}
}

// TestFailedGetLeavesNothing has room for the folder of a get's state, and for nothing in it: the
// next start must find no folder that it cannot read.
func TestFailedGetLeavesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := syscall.Mount("none", data, "tmpfs", 0, "nr_inodes=64"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
	n := peertest.Start(t, "A", peertest.Data(data))
	filler := func(i int) string { return filepath.Join(data, "filler"+strconv.Itoa(i)) }
	full := 0
	for os.WriteFile(filler(full), nil, 0o600) == nil {
		full++
	}
	if err := os.Remove(filler(0)); err != nil {
		t.Fatal(err)
	}
	_, err := n.Get(absent(t, "nothing"), filepath.Join(t.TempDir(), "out"), peer.GetOptions{})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the get began: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(data, "transfers")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}
