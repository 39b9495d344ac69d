package store_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

func TestSingle(t *testing.T) {
	conforms(t, harness{New: func(t *testing.T, m *proto.Manifest) store.Store {
		s, err := store.NewSingle(m, newFile(t))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}})
}

func newFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestScanReader checks that the bytes of a reader have the manifest of a file with these bytes, and can be seeded.
func TestScanReader(t *testing.T) {
	c := storetest.Make(t, 1, storetest.Untimed(storetest.File("", 3*storetest.PieceLength+17))...)
	opt := store.ScanOptions{PieceLength: storetest.PieceLength}
	m, err := store.ScanReader(t.Context(), "content", io.NewSectionReader(bytes.NewReader(c.Data), 0, int64(len(c.Data))), opt)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m.Hashes, c.Manifest.Hashes) || m.Name != "content" {
		t.Errorf("manifest of a reader: %+v", m)
	}
	f := newFile(t)
	if _, err := f.Write(c.Data); err != nil {
		t.Fatal(err)
	}
	s := store.SeedSingle(m, f)
	defer s.Close()
	for i := range m.Pieces() {
		if good, err := store.NewVerifier(m).Check(s, i); !good || err != nil || !s.Has(i) {
			t.Errorf("piece %d: %v, %v", i, good, err)
		}
	}
}
