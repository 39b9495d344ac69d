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

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// smallDisk mounts a file system of a size such as 8m. It returns the directory and a function that changes
// the size.
func smallDisk(t *testing.T, size string) (dir string, resize func(size string)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(size string) {
		t.Helper()
		if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk fills the disk of a get, which continues where it failed once there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir, resize := smallDisk(t, "32m")
	gate := peertest.NewGate(4 << 20)
	a, b := peertest.Start(t, "A", peertest.WithGate(gate)), peertest.Start(t, "B")
	_, link, content := peertest.SeedRandom(t, a, 12<<20, peer.SeedOptions{})
	out := filepath.Join(dir, "out")
	get := peertest.Get(t, b, link, out)
	peertest.Eventually(t, "the start of the transfer", func() bool { return get.Status().Have > 0 })
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 24<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	ctx, cancel := context.WithTimeout(context.Background(), peertest.WaitTimeout)
	defer cancel()
	err := get.Wait(ctx)
	var noRoom *peer.NoRoomError
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, &noRoom) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("a full disk: %v", err)
	}
	resize("64m")
	get = peertest.Get(t, b, link, out)
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	if st := get.Status(); st.Traffic.WANIn-st.Duplicate >= int64(len(content)) {
		t.Errorf("%d bytes fetched again", st.Traffic.WANIn)
	}
	if err := errors.Join(b.Close(), os.Remove(out)); err != nil {
		t.Fatal(err)
	}
}

// TestNoRoom gets files that do not fit on the disk. Nothing is fetched or left, and the error has the missing
// bytes. Existing files and zeros count with their size on the disk.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	dir, resize := smallDisk(t, "8m")
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	_, link, content := peertest.SeedRandom(t, a, 12<<20, peer.SeedOptions{})
	out := filepath.Join(dir, "out")
	wait := func(get *peer.Transfer) error {
		ctx, cancel := context.WithTimeout(context.Background(), peertest.WaitTimeout)
		defer cancel()
		return get.Wait(ctx)
	}
	var noRoom *peer.NoRoomError
	get := peertest.Get(t, b, link, out)
	if err := wait(get); !errors.As(err, &noRoom) || noRoom.Need != 12<<20 || noRoom.Free > 8<<20 ||
		!strings.HasSuffix(err.Error(), "free: make room for 4.2 MB more, or choose another path") {
		t.Fatalf("no room: %v", err)
	}
	if st := get.Status(); st.Phase != peer.Failed || st.Traffic.WANIn != 0 {
		t.Errorf("%s after %d bytes", st.Phase, st.Traffic.WANIn)
	}
	if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	// Existing pieces need no more room, and are not deleted.
	if err := os.WriteFile(out, content[:6<<20], 0o600); err != nil {
		t.Fatal(err)
	}
	get, err := b.Get(link, out, peer.GetOptions{Reuse: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := wait(get); !errors.As(err, &noRoom) {
		t.Errorf("with half of it there: %v", err)
	}
	peertest.EqualFile(t, out, content[:6<<20])
	resize("12m")
	if get, err = b.Get(link, out, peer.GetOptions{Reuse: true}); err != nil {
		t.Fatal(err)
	}
	// The flush opens the file once more, and a removed file takes room for as long as it is open.
	if err := get.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	peertest.EqualFile(t, out, content)
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	sparse := filepath.Join(t.TempDir(), "sparse")
	if err := errors.Join(os.WriteFile(sparse, content[:1<<20], 0o600), os.Truncate(sparse, 64<<20)); err != nil {
		t.Fatal(err)
	}
	_, link = peertest.Seed(t, a, sparse, peer.SeedOptions{})
	out = filepath.Join(dir, "sparse")
	get = peertest.Get(t, b, link, out)
	peertest.Wait(t, get)
	if err := errors.Join(b.Close(), os.Remove(out)); err != nil {
		t.Fatal(err)
	}
}

// TestNoRoomForHoles takes over a complete copy with holes, on a disk on which these do not fit. Nothing is fetched.
func TestNoRoomForHoles(t *testing.T) {
	t.Parallel()
	dir, _ := smallDisk(t, "8m")
	src, out := filepath.Join(t.TempDir(), "src"), filepath.Join(dir, "out")
	for _, path := range []string{src, out} {
		put(t, path, "")
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		check(t, err)
		for at := int64(0); at < 12<<20; at += proto.MinPieceLength {
			_, err := f.WriteAt([]byte("some bytes of a page"), at)
			check(t, err)
		}
		check(t, f.Truncate(12<<20), f.Close())
	}
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
	b := peertest.Start(t, "B")
	check(t, os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 4<<20), 0o600))
	get, err := b.Get(link, out, peer.GetOptions{Reuse: true})
	check(t, err)
	peertest.Wait(t, get)
	if st := get.Status(); st.Traffic != (peer.Traffic{}) {
		t.Errorf("traffic is %+v", st.Traffic)
	}
	check(t, b.Close())
}

// TestFailedGetLeavesNothing leaves room for the directory of a transfer's state only. The
// next start finds no invalid directory.
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
		t.Fatalf("the get started: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(data, "transfers")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNoRoomForManifest starts a get whose manifest does not fit into the data directory. It fails with the reason,
// and works once the disk has space.
func TestNoRoomForManifest(t *testing.T) {
	t.Parallel()
	data, resize := smallDisk(t, "512k")
	check(t, os.Chmod(data, 0o700))
	src := filepath.Join(t.TempDir(), "src")
	for i := range 3000 {
		put(t, filepath.Join(src, strings.Repeat("long ", 20)+strconv.Itoa(i)), "")
	}
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
	b := peertest.Start(t, "B", peertest.Data(data))
	filler := filepath.Join(data, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a small disk takes it all: %v", err)
	}
	info, err := os.Stat(filler)
	check(t, err)
	check(t, os.Truncate(filler, info.Size()-64<<10)) // for the record, not for the manifest
	out := filepath.Join(t.TempDir(), "out")
	if err := peertest.Get(t, b, link, out).Wait(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("no room for the manifest: %v", err)
	}
	resize("16m")
	peertest.Wait(t, peertest.Get(t, b, link, out))
	if err := errors.Join(b.Close(), os.Remove(filler)); err != nil {
		t.Fatal(err)
	}
}
