package store_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// TestDiskFull writes content of eight pieces to a file system of five.
func TestDiskFull(t *testing.T) {
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=1310720"); err != nil {
		t.Skip("no right to mount a small file system: ", err)
	}
	// Runs after the cleanup of newPlace's stores.
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
	})
	p := newPlace(t, storetest.Make(t, 1, storetest.File("x", 3*piece), storetest.File("y", 5*piece)))
	p.root = filepath.Join(mount, "content")
	d := p.create()
	p.put(d, 7, 0, 5, 2)
	var err error
	full := -1
	for i := range p.Manifest.Pieces() {
		_, err = d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i))
		if err != nil && i != 0 && i != 2 {
			full = i
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("full disk: %v", err)
	}
	p.ok(d.Close())
	d = p.open()
	p.want(d, "v-v--v-v")
	verified := p.has(d)
	p.recheckAll(d, verified)
	if err := d.Finish(); err == nil {
		t.Error("finish: no error")
	}
	p.ok(d.Close())
	// There is space again, for the rest.
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	d = p.open()
	p.put(d, full)
	for i := range verified {
		if !verified[i] && i != full {
			p.put(d, i)
		}
	}
	p.ok(d.Finish())
	p.Verify(t, p.root)
}

func TestDiskFullOfJournal(t *testing.T) {
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=4096"); err != nil {
		t.Skip("no right to mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
	})
	p := newPlace(t, storetest.Make(t, 1, storetest.File("", 200*piece)))
	p.dir = mount
	d := p.create()
	_, err := d.WriteAt([]byte{0}, 0)
	p.ok(err)
	done := 0
	for ; done < 200 && err == nil; done++ {
		err = d.Commit(done)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("full disk: %v", err)
	}
	p.ok(d.Close())
	// Nor for what the file has now.
	if _, err := store.Open(p.dir, p.root, p.Manifest, p.files); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("open on a full disk: %v", err)
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size=64k"); err != nil {
		t.Fatal(err)
	}
	d = p.open()
	unverified := 0
	for _, is := range d.Unverified() {
		if is {
			unverified++
		}
	}
	// The header takes the space of two records; boot and inode are two more.
	if count := unverified; count != done-1 || count < 4096/32-5 {
		t.Errorf("%d pieces unverified, %d committed", count, done-1)
	}
}
