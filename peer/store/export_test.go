package store

import (
	"context"
	"os"
	"sync"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// OpenAfterBoot is [Open] on a machine with that boot id.
func OpenAfterBoot(dir, root string, m *proto.Manifest, files *Files, boot [16]byte) (*Disk, error) {
	return open(dir, root, m, files, boot, false)
}

// FlushEvery makes d flush every n bytes.
func (d *Disk) FlushEvery(n int64) { d.flush.every = n }

// WaitFlush waits for a running flush.
func (d *Disk) WaitFlush() { d.flush.group.Wait() }

// FailFlush does what a failed flush does.
func (d *Disk) FailFlush(err error) {
	d.fail(err)
}

// Open returns the number of files in c.
func (c *Files) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.handles)
}

// IsHole reports whether n bytes at offset of a file are in a hole.
func IsHole(path string, offset, n int64) bool {
	f, err := vfs.OS{}.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.IsHole(offset, n)
}

// TempName returns the name of the copy that is made of a file with other names.
func (d *Disk) TempName(name string) string { return d.tree.tempName(name) }

// Reaudit audits pieces of d, records the verdicts and calls found, unless it is nil. It returns the reason for the
// first unreadable piece.
func Reaudit(ctx context.Context, d *Disk, v *Verifier, check []bool, found func(piece int, is Verdict)) error {
	var mu sync.Mutex
	var first error
	err := Audit(ctx, d, v, Pieces(check), func(piece int, is Verdict, why error) error {
		current, err := Record(d, piece, is, why)
		mu.Lock()
		defer mu.Unlock()
		if current && first == nil {
			first = why
		}
		if current && err == nil && found != nil {
			found(piece, is)
		}
		return err
	})
	if err == nil {
		err = first
	}
	return err
}
