package stream

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

func newTestContent(t *testing.T, s *space, length int64) *content {
	t.Helper()
	c := newContent(s, length, s.take(blocksOf(length), false))
	t.Cleanup(c.free)
	return c
}

// TestStores runs the conformance test of stores, in memory and in the spool.
func TestStores(t *testing.T) {
	for name, spooled := range map[string]bool{"memory": false, "spool": true} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, storetest.Harness{New: func(t *testing.T, m *proto.Manifest) store.Store {
				s := newSpace(t.TempDir(), 64<<20)
				t.Cleanup(s.close)
				c := newTestContent(t, s, m.Length())
				if spooled {
					if err := c.toSpool(); err != nil {
						t.Fatal(err)
					}
				}
				return store.NewMemoryOf(m, c)
			}})
		})
	}
}

// TestMoves checks that a content is the same after it has moved, and that both places are used again.
func TestMoves(t *testing.T) {
	t.Parallel()
	const length = 10*blockSize + 5
	s := newSpace(t.TempDir(), 2*(length+blockSize))
	t.Cleanup(s.close)
	want := bytes.Repeat([]byte("mob"), length/3+1)[:length]
	for range 5 {
		c := newTestContent(t, s, length)
		if _, err := c.WriteAt(want, 0); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.toSpool() }()
		got := make([]byte, length)
		for moved := false; !moved; {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				moved = true
			default:
			}
			if _, err := c.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("other bytes while it moves: %v", err)
			}
		}
		if memory, spool := s.used(); memory != 0 || spool != 11*blockSize || c.inMemory() {
			t.Errorf("%d in memory and %d in the spool", memory, spool)
		}
		c.free()
		if _, err := c.ReadAt(got, 0); !errors.Is(err, os.ErrClosed) {
			t.Errorf("read of a content that was freed: %v", err)
		}
	}
	if memory, spool := s.used(); memory != 0 || spool != 0 || len(s.free) != 11 {
		t.Errorf("%d in memory, %d in the spool, %d free", memory, spool, len(s.free))
	}
	if names, err := os.ReadDir(s.dir); err != nil || len(names) > 0 {
		t.Errorf("the spool has a name: %v, %v", names, err)
	}
}

// TestSpoolFull checks that a content stays in memory if the spool has no room for it.
func TestSpoolFull(t *testing.T) {
	t.Parallel()
	s := newSpace(t.TempDir(), 3*blockSize)
	t.Cleanup(s.close)
	a, b := newTestContent(t, s, 2*blockSize), newTestContent(t, s, 2*blockSize)
	if err := a.toSpool(); err != nil {
		t.Fatal(err)
	}
	if err := b.toSpool(); !errors.Is(err, errSpoolFull) || !b.inMemory() {
		t.Errorf("a second one: %v", err)
	}
	a.free()
	if err := b.toSpool(); err != nil {
		t.Errorf("after the first was freed: %v", err)
	}
}

// TestSpoolDamaged checks that bytes that changed in the spool are not delivered.
func TestSpoolDamaged(t *testing.T) {
	t.Parallel()
	s := newSpace(t.TempDir(), 1<<20)
	t.Cleanup(s.close)
	data := storetest.Make(t, 1, storetest.File("", 3*blockSize))
	m := *data.Manifest
	m.PieceLength, m.Hashes = blockSize, nil
	k := &cutter{space: s}
	for i := range 3 {
		b := s.take(1, false)[0]
		copy(b, data.Data[i*blockSize:])
		k.push(b)
	}
	c, hashes := k.cut(maxSegment)
	m.Hashes = hashes
	if err := c.toSpool(); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := c.deliver(&got, &m); err != nil || !bytes.Equal(got.Bytes(), data.Data) {
		t.Fatalf("delivery from the spool: %v", err)
	}
	if err := s.writeSpool([]byte{^data.Data[blockSize]}, c.blocks[1].spool, 0); err != nil {
		t.Fatal(err)
	}
	got.Reset()
	if n, err := c.deliver(&got, &m); !errors.Is(err, errSpoolDamaged) || n != blockSize {
		t.Errorf("delivered %d damaged bytes: %v", n, err)
	}
}
