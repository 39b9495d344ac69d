package peer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
