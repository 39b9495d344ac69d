package store_test

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// TestManyFiles writes 1,000 files with 16 descriptors.
func TestManyFiles(t *testing.T) {
	entries := []proto.Entry{storetest.Dir("d")}
	for i := range 1000 {
		entries = append(entries, storetest.File("d/"+strconv.Itoa(i), int64(i%3000)))
	}
	c := storetest.Make(t, 5, entries...)
	p := newPlace(t, c)
	p.files = store.NewFiles(16)
	before := descriptors(t)
	d := p.create()
	most := 0
	var group sync.WaitGroup
	for i := range c.Manifest.Pieces() {
		group.Go(func() {
			if _, err := d.WriteAt(p.Piece(i), c.Manifest.PieceOffset(i)); err != nil {
				t.Error(err)
			}
			if err := d.Commit(i); err != nil {
				t.Error(err)
			}
			if good, err := store.NewVerifier(c.Manifest).Check(d, i); !good || err != nil {
				t.Errorf("piece %d: %v, %v", i, good, err)
			}
		})
	}
	stop := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-stop:
				return
			default:
				most = max(most, descriptors(t)-before)
			}
		}
	}()
	group.Wait()
	p.ok(d.Finish())
	close(stop)
	<-watched
	if open := p.files.Open(); open > 16 {
		t.Errorf("%d open files, want at most 16", open)
	}
	// Two for the store, one for the file being created, and two for each path being
	// walked.
	if limit := 16 + 3 + 2*c.Manifest.Pieces(); most > limit {
		t.Errorf("%d descriptors, want at most %d", most, limit)
	}
	t.Logf("%d descriptors for %d files in %d pieces", most, len(entries), c.Manifest.Pieces())
	p.Verify(t, p.root)
	p.ok(d.Close())
	p.want(p.open(), strings.Repeat("v", c.Manifest.Pieces()))
}

// descriptors returns the number of open descriptors of this process, if it is known.
func descriptors(t *testing.T) int {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Log(err)
	}
	return len(names)
}
