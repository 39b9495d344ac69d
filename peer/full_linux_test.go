package peer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFullDisk has a get run into a full disk; with room it goes on from there.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	_, link, content := seedAndLink(t, a, 12<<20)
	out := filepath.Join(dir, "out")
	get := mustGet(t, b, link, out)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := get.Wait(ctx)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("a full disk: %v", err)
	}
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=32m"); err != nil {
		t.Fatal(err)
	}
	get = mustGet(t, b, link, out)
	mustWait(t, get)
	mustEqual(t, out, content)
	if st := get.Status(); st.Traffic.WANIn >= int64(len(content)) {
		t.Errorf("%d bytes came again", st.Traffic.WANIn)
	}
	if err := errors.Join(b.Close(), os.Remove(out)); err != nil {
		t.Fatal(err)
	}
}
