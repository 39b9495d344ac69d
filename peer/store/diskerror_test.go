package store_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store"
)

// TestUnreadable makes reads fail: nothing is journaled, the other pieces are
// checked, and all pieces are verified once the disk reads again.
func TestUnreadable(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ESTALE, syscall.EACCES, syscall.EMFILE} {
		p := faulty(t, kind{})
		p.fetch()
		p.ok(p.start())
		before := p.readFile(faultDir + "/journal")
		p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: errno, Only: func(call, name string) bool {
			return name == "c" && (call == "read" || call == "open")
		}})
		all := make([]bool, p.Manifest.Pieces())
		for i := range all {
			all[i] = true
		}
		var verdicts [3]atomic.Int32
		err := store.Reaudit(t.Context(), p.open, store.NewVerifier(p.Manifest), all, func(_ int, v store.Verdict) {
			verdicts[v].Add(1)
		})
		var unreadable *store.UnreadableError
		if !errors.As(err, &unreadable) || unreadable.Path != faultRoot+"/c" || !errors.Is(err, errno) {
			t.Errorf("%v", err)
		}
		if verdicts[store.Good].Load() != 2 || verdicts[store.Damaged].Load() != 0 || verdicts[store.Unreadable].Load() != 3 {
			t.Errorf("verdicts %v", &verdicts)
		}
		if p.open.Count() != len(all) || !bytes.Equal(p.readFile(faultDir+"/journal"), before) {
			t.Errorf("%d pieces are left, or the journal has changed", p.open.Count())
		}
		p.fs.SetPlan(nil)
		p.ok(store.Reaudit(t.Context(), p.open, store.NewVerifier(p.Manifest), all, nil))
		p.ok(p.end())
	}
}

// TestLookUnreadable checks that Look reports an entry that cannot be read, and the reason, once.
func TestLookUnreadable(t *testing.T) {
	for name, call := range map[string]string{"c": "lstat", "l": "readlink"} {
		p := faulty(t, kind{})
		p.fetch()
		p.ok(p.start())
		p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: syscall.EIO, Only: func(is, of string) bool { return is == call && of == name }})
		_, err := p.open.Look(t.Context())
		want := faultRoot + "/" + name + " cannot be read at present: input/output error"
		if err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
		p.fs.SetPlan(nil)
		p.ok(p.end())
	}
}

// TestRemoveUnreadable checks that a removal fails if the destination cannot be read at present, and can be repeated.
func TestRemoveUnreadable(t *testing.T) {
	p := faulty(t, kind{})
	p.fetch()
	p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: syscall.EIO, Only: func(call, name string) bool {
		return call == "lstat" && name == filepath.Base(faultRoot)
	}})
	if left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files); !errors.Is(err, syscall.EIO) {
		t.Errorf("left %v, %v", left, err)
	}
	p.fs.SetPlan(nil)
	if left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files); len(left) > 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestRemoveDenied checks that a removal that the system denies, as of an immutable file, fails with the file and the reason.
func TestRemoveDenied(t *testing.T) {
	p := faulty(t, kind{})
	p.fetch()
	p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: syscall.EPERM, Only: func(call, name string) bool { return call == "remove" && name == "c" }})
	_, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files)
	if want := "remove " + faultRoot + "/c: operation not permitted"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	p.fs.SetPlan(nil)
	if left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files); len(left) > 0 || err != nil {
		t.Errorf("again: left %v, %v", left, err)
	}
}

// TestFlushWithoutDescriptors fails each open once the content is published, as when all descriptors of the process are in
// use. The content is flushed nevertheless.
func TestFlushWithoutDescriptors(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.start())
	p.ok(p.put(99))
	p.ok(p.open.Publish())
	p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: syscall.EMFILE, Only: func(call, _ string) bool { return call == "open" }})
	p.ok(p.open.Finish())
	p.fs.SetPlan(nil)
	p.ok(p.end())
	p.verify("flushed")
}

// TestHungDisk makes a write hang. While it hangs, verified pieces are known and read.
func TestHungDisk(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.start())
	p.ok(p.put(3))
	hang := make(chan struct{})
	p.fs.SetPlan(&faultPlan{Times: 1, Hang: hang, Only: func(call, name string) bool {
		return call == "write" && name == "c"
	}})
	d, last := p.open, p.Manifest.Pieces()-1
	written := make(chan error)
	go func() {
		_, err := d.WriteAt(p.Piece(last), p.Manifest.PieceOffset(last))
		written <- err
	}()
	for p.fs.Calls() == 0 {
		runtime.Gosched()
	}
	if !d.Has(0) || d.Count() != 3 || d.Unverified()[0] {
		t.Error("pieces are not known while the disk hangs")
	}
	if good, err := store.NewVerifier(p.Manifest).Check(d, 0); !good || err != nil {
		t.Errorf("a piece of another file: %v, %v", good, err)
	}
	p.ok(d.Forget(0))
	close(hang)
	p.ok(<-written)
	p.ok(d.Commit(last))
	p.ok(p.put(99))
	p.ok(d.Finish())
	p.ok(p.end())
	p.verify("after the disk hung")
}
