package store_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

func TestOddNames(t *testing.T) {
	long := strings.Repeat("ü", 127) + "x"
	entries := []proto.Entry{
		storetest.Dir(long), storetest.File(long+"/"+long, 10), storetest.Link(long+"/l", "../new\nline"),
		storetest.File("new\nline", 20), storetest.File(" two  spaces ", 30), storetest.File("日本語", 40), storetest.File("-rf *", 50),
		storetest.File("C:\\con", 60), storetest.File("...", 0), storetest.Dir("empty"), storetest.File("large\t", 2*piece),
	}
	if runtime.GOOS != "darwin" { // which takes no others than UTF-8
		entries = append(entries, storetest.File("not utf-8 \xff", 5), storetest.Dir("dir \xfe"), storetest.File("dir \xfe/x", 6))
	}
	p := newPlace(t, storetest.Make(t, 3, entries...))
	d := p.create()
	p.putAll(d)
	p.ok(d.Finish())
	p.Verify(t, p.root)
	p.scanEqual(store.ScanOptions{})
}

// TestManyFiles moves 1,000 files through 16 descriptors.
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
			if good, err := store.Check(d, c.Manifest, i); !good || err != nil {
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
		t.Errorf("%d files open, want at most 16", open)
	}
	// Two for the store, one for the file in the making, and two for each of the
	// paths being walked.
	if limit := 16 + 3 + 2*c.Manifest.Pieces(); most > limit {
		t.Errorf("%d descriptors, want at most %d", most, limit)
	}
	t.Logf("%d descriptors for %d files in %d pieces", most, len(entries), c.Manifest.Pieces())
	p.Verify(t, p.root)
	p.ok(d.Close())
	p.want(p.open(), strings.Repeat("v", c.Manifest.Pieces()))
}

// descriptors counts those of this process, where that is possible.
func descriptors(t *testing.T) int {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Log(err)
	}
	return len(names)
}
