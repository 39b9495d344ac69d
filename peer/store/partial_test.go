package store_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// without returns the part of the content without entries whose paths begin with a name.
func (p *place) without(name string) *proto.Manifest {
	return p.Manifest.Partial(func(i int) bool { return strings.HasPrefix(p.Manifest.Entries[i].Path, name) })
}

// putWanted writes the missing pieces of a partial store.
func (p *place) putWanted(d *store.Disk) {
	p.t.Helper()
	for i := range p.Manifest.Pieces() {
		if !d.Has(i) && !d.LeavesOut(i) {
			p.put(d, i)
		}
	}
}

// TestPartial stores a part of the content: the left-out files are not created, and the pieces that they share with their
// neighbors can be read. Later the store gets the remaining files.
func TestPartial(t *testing.T) {
	const piece = storetest.PieceLength
	p := newPlace(t, storetest.Make(t, 1, storetest.File("a", piece+9), storetest.Dir("b"), storetest.File("b/empty", 0),
		storetest.Link("b/link", "x"), storetest.File("b/x", 3*piece), storetest.File("c", piece)))
	all := p.Manifest
	p.Manifest = p.without("b")
	d := p.create()
	p.want(d, "------")
	if need, _, known := d.Room(); known && need >= 3*piece {
		t.Errorf("needs %d bytes", need)
	}
	p.putWanted(d)
	p.ok(d.Finish())
	p.want(d, "vv--vv")
	p.gone(p.path("b"))
	shared := make([]byte, piece)
	if _, err := d.ReadAt(shared, piece); err != nil || !bytes.Equal(shared, p.Data[piece:2*piece]) {
		t.Error("a shared piece differs:", err)
	}
	if found := p.look(d); found != nil {
		t.Errorf("%q differ", found)
	}
	p.ok(d.Close())
	d = p.open()
	p.want(d, "vv--vv")
	p.ok(d.Finish())
	p.ok(d.Close())

	p.Manifest = all
	d = p.open()
	p.want(d, "v----v")
	p.putMissing(d)
	p.ok(d.Finish())
	p.Verify(t, p.root)
}

// TestPartialZeros leaves out files of zeros: their bytes of shared pieces are not holes of other files.
func TestPartialZeros(t *testing.T) {
	const piece = storetest.PieceLength
	c := storetest.Make(t, 1, storetest.File("a", piece/2), storetest.File("b", 2*piece))
	clear(c.Data[:piece/2])
	clear(c.Data[piece : 5*piece/2])
	c.Hash(t)
	p := newPlace(t, c)
	p.Manifest = p.without("b")
	d := p.create()
	p.want(d, "---")
	p.putWanted(d)
	p.ok(d.Finish())
	p.want(d, "v--")
	p.recheckAll(d, p.has(d))
	p.want(d, "v--")
}

// TestPartialAdopt takes over files with another file of the content beside them, which stays as it is.
func TestPartialAdopt(t *testing.T) {
	p := newPlace(t, storetest.Make(t, 1, storetest.File("a", 9), storetest.File("b", 2*storetest.PieceLength)))
	p.Write(t, p.root)
	p.ok(os.WriteFile(p.path("b"), []byte("mine"), 0o600))
	p.Manifest = p.without("b")
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.recheck(d)
	p.want(d, "---")
	p.putWanted(d)
	p.ok(d.Finish())
	p.want(d, "v--")
	if mine, err := os.ReadFile(p.path("b")); err != nil || string(mine) != "mine" {
		t.Errorf("the left-out file has %q, %v", mine, err)
	}
	p.ok(d.Close())
	left, err := store.Remove(p.dir, p.root, p.Manifest, p.files)
	p.ok(err)
	if len(left) == 0 {
		t.Error("files of the user were removed")
	}
}
