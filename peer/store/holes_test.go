package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// sparse makes content with zeros in some ranges, and writes it with holes there.
func sparse(t *testing.T, zeros [][2]int64, entries ...proto.Entry) *place {
	t.Helper()
	p := newPlace(t, storetest.Make(t, 1, entries...))
	for _, z := range zeros {
		clear(p.Data[z[0]:z[1]])
	}
	p.Manifest.Hashes = slowHashes(p.Data, piece)
	p.Write(t, p.root)
	rest := p.Data
	for _, e := range p.Manifest.Entries {
		p.writeSparse(filepath.Join(p.root, e.Path), rest[:e.Size], e.MTime)
		rest = rest[e.Size:]
	}
	return p
}

// writeSparse rewrites a file, with holes where it is zero.
func (p *place) writeSparse(path string, data []byte, mtime int64) {
	p.t.Helper()
	p.ok(os.Truncate(path, 0))
	p.ok(os.Truncate(path, int64(len(data))))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	p.ok(err)
	const unit = 4096
	for at := 0; at < len(data); at += unit {
		part := data[at:min(at+unit, len(data))]
		if !bytes.Equal(part, make([]byte, len(part))) {
			_, err = f.WriteAt(part, int64(at))
			p.ok(err)
		}
	}
	p.ok(f.Close())
	p.ok(os.Chtimes(path, time.Time{}, timeOf(mtime)))
}

// TestScanHoles scans holes that end with pieces, within pieces, and with files, and a
// piece with holes and data of several files.
func TestScanHoles(t *testing.T) {
	const half = piece / 2
	file := storetest.File
	for name, p := range map[string]*place{
		"all":     sparse(t, [][2]int64{{0, 4 * piece}}, file("", 4*piece)),
		"tail":    sparse(t, [][2]int64{{0, 4*piece + half}}, file("", 4*piece+half)),
		"inside":  sparse(t, [][2]int64{{piece, 3 * piece}}, file("", 5*piece)),
		"halves":  sparse(t, [][2]int64{{half, 2*piece + half}}, file("", 4*piece)),
		"one off": sparse(t, [][2]int64{{piece + 4096, 3 * piece}, {3*piece + 4096, 5 * piece}}, file("", 5*piece)),
		"folder": sparse(t, [][2]int64{{half, 5 * piece}},
			file("a", piece), file("b", half), file("c", half), file("d", 2*piece+9), file("e", 2*piece)),
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			for _, length := range []uint32{piece, 2 * piece} {
				setCPUs(t, 3)
				p.scanEqual(store.ScanOptions{PieceLength: length})
			}
			var last int64
			p.scanEqual(store.ScanOptions{PieceLength: piece, Progress: func(done, _ int64) { last = done }})
			if last != p.Manifest.Length() {
				t.Errorf("progress ends at %d of %d", last, p.Manifest.Length())
			}
		})
	}
}

// huge makes a file of 64 GiB without data, which would take minutes to read.
func huge(t *testing.T) (path string, size int64) {
	t.Helper()
	path, size = filepath.Join(t.TempDir(), "huge"), 1<<36
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Skip("no file of that size: ", err)
	}
	if !store.IsHole(path, 0, size) {
		t.Skip("this file system reports no holes")
	}
	return path, size
}

func TestScanHugeHole(t *testing.T) {
	path, size := huge(t)
	m, err := store.Scan(t.Context(), path, store.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	zero := sha256.Sum256(make([]byte, m.PieceLength))
	if m.Length() != size || !bytes.Equal(m.Hashes, bytes.Repeat(zero[:], m.Pieces())) {
		t.Errorf("%d bytes in %d pieces, not all have the hash of zeros", m.Length(), m.Pieces())
	}
}

// TestScanChangedHoles writes to holes before and after the scan gets there, and
// truncates them.
func TestScanChangedHoles(t *testing.T) {
	write := func(at int64) func(string) error {
		return func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte{1}, at)
			return errors.Join(err, f.Close())
		}
	}
	for name, do := range map[string]func(string) error{
		"behind": write(0),
		"ahead":  write(7 * piece),
		"longer": func(path string) error { return os.Truncate(path, 9*piece) },
		"gone":   os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			p := sparse(t, [][2]int64{{0, 8 * piece}}, storetest.File("", 8*piece))
			setCPUs(t, 1)
			opt := store.ScanOptions{PieceLength: piece}
			opt.Progress = func(done, _ int64) {
				if done == 2*piece {
					p.ok(do(p.root))
				}
			}
			_, err := store.Scan(t.Context(), p.root, opt)
			var changed *store.ChangedError
			if !errors.As(err, &changed) || changed.Path != p.root {
				t.Errorf("%v", err)
			}
		})
	}
	p := sparse(t, [][2]int64{{0, 8 * piece}}, storetest.File("", 8*piece))
	setCPUs(t, 1)
	opt := store.ScanOptions{PieceLength: piece}
	opt.Progress = func(done, _ int64) {
		if done == 2*piece {
			p.ok(os.Truncate(p.root, 4*piece))
		}
	}
	if _, err := store.Scan(t.Context(), p.root, opt); err == nil {
		t.Error("finds zeros beyond the end of a truncated file")
	}
}

// TestCreateHoles checks that pieces of zeros, some across files, survive
// restarts and crashes like pieces that were received.
func TestCreateHoles(t *testing.T) {
	huge(t) // skips where there are no holes
	begin := func(t *testing.T) (*place, *store.Disk) {
		p := sparse(t, [][2]int64{{piece, 3 * piece}, {4 * piece, 6*piece + 5}},
			storetest.File("a", 2*piece), storetest.File("b", piece/2),
			storetest.File("c", 2*piece+piece/2), storetest.File("d", piece+5))
		p.root = filepath.Join(t.TempDir(), "copy")
		d := p.create()
		p.want(d, "-vv-vv-")
		p.recheckAll(d, p.has(d))
		return p, d
	}
	t.Run("finish", func(t *testing.T) {
		p, d := begin(t)
		if _, err := d.WriteAt([]byte{1}, piece); !errors.Is(err, store.ErrVerified) {
			t.Errorf("write to a piece of zeros: %v", err)
		}
		p.put(d, 6, 0, 3)
		p.ok(d.Finish())
		p.Verify(t, p.root)
	})
	t.Run("killed", func(t *testing.T) {
		p, d := begin(t)
		p.ok(d.Close())
		d = p.open()
		p.want(d, "-vv-vv-")
		p.put(d, 0, 3, 6)
		p.ok(d.Finish())
		p.Verify(t, p.root)
	})
	t.Run("crash", func(t *testing.T) {
		p, d := begin(t)
		p.ok(d.Close())
		// The crash lost a size that was not flushed.
		p.ok(os.Truncate(p.path("c"), 0))
		d = p.got(store.OpenAfterBoot(p.dir, p.root, p.Manifest, p.files, [16]byte{1}))
		p.want(d, "-dd-dd-")
		p.recheck(d)
		p.want(d, "-v---v-")
		p.put(d, 0, 2, 3, 4, 6)
		p.ok(d.Finish())
		p.Verify(t, p.root)
	})
}

// TestCreateHugeHole finishes content of which no piece has to be received.
func TestCreateHugeHole(t *testing.T) {
	path, size := huge(t)
	m, err := store.Scan(t.Context(), path, store.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	d, err := store.Create(filepath.Join(dir, "state"), filepath.Join(dir, "copy"), m, store.NewFiles(4))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Finish(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "copy")); err != nil || info.Size() != size {
		t.Errorf("%v, %v", info, err)
	}
}
