package store_test

import (
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDisk(t *testing.T) {
	for _, budget := range []int{1, 100} {
		conforms(t, diskHarness(budget))
	}
}

// diskHarness creates stores that share a cache of at most budget open files.
func diskHarness(budget int) harness {
	type place struct {
		dir, root string
		m         *proto.Manifest
	}
	files := store.NewFiles(budget)
	places := map[store.Store]place{}
	return harness{
		New: func(t *testing.T, m *proto.Manifest) store.Store {
			at := place{t.TempDir(), filepath.Join(t.TempDir(), "content"), m}
			s, err := store.Create(at.dir, at.root, m, files)
			if err != nil {
				t.Fatal(err)
			}
			places[s] = at
			return s
		},
		Reopen: func(t *testing.T, old store.Store) store.Store {
			at := places[old]
			s, err := store.Open(at.dir, at.root, at.m, files)
			if err != nil {
				t.Fatal(err)
			}
			places[s] = at
			return s
		},
	}
}
