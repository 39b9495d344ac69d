package store_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

func TestOddNames(t *testing.T) {
	long := strings.Repeat("ü", 127) + "x"
	entries := []proto.Entry{
		storetest.Dir(long), storetest.File(long+"/"+long, 10), storetest.Link(long+"/l", "../new\nline"),
		storetest.File("new\nline", 20), storetest.File(" two  spaces ", 30),
		storetest.File("日本語", 40), storetest.File("-rf *", 50),
		storetest.File("C:\\con", 60), storetest.File("...", 0), storetest.Dir("empty"), storetest.File("large\t", 2*piece),
	}
	if runtime.GOOS != "darwin" { // which accepts UTF-8 only
		entries = append(entries,
			storetest.File("not utf-8 \xff", 5), storetest.Dir("dir \xfe"), storetest.File("dir \xfe/x", 6))
	}
	p := newPlace(t, storetest.Make(t, 3, entries...))
	p.fetched()
	p.Verify(t, p.root)
	p.scanEqual(store.ScanOptions{})
}
