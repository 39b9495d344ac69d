package store_test

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/mobgrid/mob/peer/store"
)

// TestAuditBesideWrites hashes unverified pieces while they are written with other bytes:
// none of them is ever verified.
func TestAuditBesideWrites(t *testing.T) {
	p := newPlace(t, single(t))
	p.Write(t, p.root)
	wrong := make([]byte, piece)
	for range 50 {
		p.ok(os.WriteFile(p.root, p.Data, 0o600))
		d, err := store.Adopt(t.TempDir(), p.root, p.Manifest, p.files)
		p.ok(err)
		var group sync.WaitGroup
		group.Go(func() {
			for i := range p.Manifest.Pieces() {
				if _, err := d.WriteAt(wrong, p.Manifest.PieceOffset(i)); err != nil && !errors.Is(err, store.ErrVerified) {
					t.Error(err)
				}
			}
		})
		p.ok(store.Reaudit(t.Context(), d, store.NewVerifier(p.Manifest), d.Unverified(), nil))
		group.Wait()
		for i := range p.Manifest.Pieces() {
			if good, err := store.NewVerifier(p.Manifest).Check(d, i); d.Has(i) && (!good || err != nil) {
				t.Fatalf("piece %d is verified, and %v, %v", i, good, err)
			}
		}
		p.ok(d.Close())
	}
}

// TestReadsBesidePublish reads a file that Publish has just made read-only, and that is no
// longer open: its mode stays.
func TestReadsBesidePublish(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.start())
	p.ok(p.put(99))
	hang := make(chan struct{})
	p.fs.SetPlan(&faultPlan{Times: 1, Hang: hang, Only: func(call, name string) bool {
		return call == "fchmod" && name == "c" // after a/x
	}})
	d, published := p.open, make(chan error)
	go func() { published <- d.Publish() }()
	for p.fs.Calls() == 0 {
		runtime.Gosched()
	}
	for _, piece := range []int{p.Manifest.Pieces() - 1, 0} { // of c, in the place of a/x, which is opened again
		if good, err := store.NewVerifier(p.Manifest).Check(d, piece); !good || err != nil {
			t.Errorf("piece %d: %v, %v", piece, good, err)
		}
	}
	close(hang)
	p.ok(<-published)
	p.ok(d.Finish())
	p.ok(p.end())
	p.verify("read while it was published")
}

// TestForgetDuringFinish removes a file while Finish runs, and forgets its pieces. Finish does not report the removal, and the
// store takes the pieces again.
func TestForgetDuringFinish(t *testing.T) {
	p := faulty(t, kind{})
	d, err := store.Create(faultDir, faultRoot, p.Manifest, p.files)
	p.ok(err)
	p.open = d
	p.ok(p.put(-1))
	p.ok(d.Publish())
	last := p.Manifest.Pieces() - 1
	p.fs.SetPlan(&faultPlan{Times: 1, Only: func(call, _ string) bool { return call == "sync" }, Do: func() {
		p.ok(p.fs.Remove(faultRoot + "/c"))
		p.ok(d.Forget(last))
	}})
	if err := d.Finish(); !errors.Is(err, store.ErrNotWhole) {
		t.Errorf("Finish: %v", err)
	}
	p.ok(p.put(-1))
	p.ok(d.Finish())
	p.ok(p.end())
	p.verify("after the pieces were written again")
}

// TestForgetBeforeWrites checks that a piece of complete content is not written to before the disk has the record that it is
// missing.
func TestForgetBeforeWrites(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.start())
	p.ok(p.put(999))
	p.ok(p.open.Finish())
	var early error
	p.fs.SetPlan(&faultPlan{
		Times: 1, Only: func(call, name string) bool { return call == "sync" && name == faultDir+"/journal" },
		Do: func() { _, early = p.open.WriteAt(p.Piece(0), 0) },
	})
	p.ok(p.open.Forget(0))
	p.fs.SetPlan(nil)
	if !errors.Is(early, store.ErrReadOnly) {
		t.Errorf("a write before the sync of the journal: %v", early)
	}
	p.ok(p.put(1))
	p.ok(p.open.Finish())
	p.ok(p.end())
}
