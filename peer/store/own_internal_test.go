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
// right size: a user may have made another in the same tick of the clock.
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
	for text, own := range map[string]bool{"mine": true, "mine too": false} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		s := vfs.StatOf(info)
		f := journal.File{Stamp: journal.Stamp{Inode: 1, Changed: s.Changed}, Made: true}
		f = opening{Disk: d, sameBoot: true}.claim(0, f, info)
		if got := f.Inode == s.Inode; got != own {
			t.Errorf("a file of %d bytes is the store's: %v, want %v", len(text), got, own)
		}
	}
}
