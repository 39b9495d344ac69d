package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// TestClaimOfSameTick claims a file with another inode number and the time of the store's file. It is the store's if it has the
// right size and creation time: a user may have made another in the same tick of the clock.
func TestClaimOfSameTick(t *testing.T) {
	m := &proto.Manifest{
		Name: "x", PieceLength: proto.MinPieceLength, Hashes: make([]byte, 32),
		Entries: []proto.Entry{{Kind: proto.File, Size: 4, Mode: 0o644, MTime: proto.NoMTime}},
	}
	path := filepath.Join(t.TempDir(), "x")
	d, err := Create(t.TempDir(), path, m, NewFiles(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, test := range []struct {
		text string
		born int64 // of the store's file, less the file's
		own  bool
	}{{"mine", 0, true}, {"mine", 1, false}, {"mine too", 0, false}} {
		if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		s := vfs.StatOf(info)
		born := d.tree.root.Born("x")
		f := journal.File{Stamp: journal.Stamp{Inode: 1, Changed: s.Changed}, Born: born + test.born, Made: true}
		f = opening{Disk: d, sameBoot: true}.claim(0, f, info)
		if got := f.Inode == s.Inode; got != test.own && (test.born == 0 || born != 0) {
			t.Errorf("a file of %d bytes created %d ns earlier is the store's: %v, want %v", len(test.text), test.born, got, test.own)
		}
	}
}
