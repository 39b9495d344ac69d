package peer

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Transfer returns the transfer with the given content id, link, or path of its content. A path means
// the newest transfer at that place. It fails with [ErrUnknownTransfer] if there is none.
func (n *Node) Transfer(name string) (*Transfer, error) { return n.TransferFor(nil, name) }

// TransferFor is Transfer among the transfers for a user, see [Transfer.For].
func (n *Node) TransferFor(u *vfs.User, name string) (*Transfer, error) {
	var keys []cid.Cid
	if link, err := proto.ParseLink(name); err == nil {
		keys = link.Keys()
	} else if id, err := cid.Decode(name); err == nil {
		keys = []cid.Cid{id}
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if t := n.transfers.find(keys...); t != nil && t.For(u) {
		return t, nil
	}
	if t := n.transfers.newest(abs, u); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %w", name, ErrUnknownTransfer)
}

// Transfers returns all transfers, stopped ones too, the oldest first.
func (n *Node) Transfers() []*Transfer { return n.transfers.all() }

// Remove stops a transfer and deletes its state. If deleteContent is set, it deletes the files
// too, and fails if those were seeded: it deletes only what was fetched, and returns what it has
// left at the transfer's path, see [store.Remove]. It waits for the disk. If it fails, the
// transfer is still there, possibly stopped. If the machine crashes while files are deleted, it is
// still there and stopped. Removing it again does nothing.
func (n *Node) Remove(t *Transfer, deleteContent bool) ([]store.Left, error) {
	return n.remove(t, deleteContent, func() bool { return true })
}

// remove is Remove, if that is still to be once nothing else changes the transfer.
func (n *Node) remove(t *Transfer, deleteContent bool, still func() bool) ([]store.Left, error) {
	done, err := t.operate()
	if err != nil {
		return nil, err
	}
	defer done()
	if !n.transfers.has(t) || !still() {
		return nil, nil
	}
	if r := t.record(); deleteContent && (r.Seed || t.dir == "") {
		return nil, fmt.Errorf("%s was not fetched by mob: delete it yourself", cmp.Or(r.Root, "the content"))
	}
	t.halt(ErrStopped)
	var left []store.Left
	if deleteContent {
		// After a crash the next node must not fetch what is gone by then. A full disk is no reason to
		// delete nothing.
		t.logUnsaved(t.update(func(r *metadata.Record) { r.Stopped = true }))
		left, err = t.removeContent()
		if err != nil {
			return left, err
		}
	}
	if t.dir != "" {
		if err := os.RemoveAll(t.dir); err != nil {
			return left, err
		}
	}
	n.transfers.remove(t)
	return left, nil
}

// removeContent deletes what was fetched. The manifest says what that is.
func (t *Transfer) removeContent() ([]store.Left, error) {
	d, r := t.Description(), t.record()
	err := d.Load()
	if m := d.Manifest(); m != nil {
		if r.User != nil {
			return store.RemoveOn(vfs.As(r.User, r.Root, t.dir), t.dir, r.Root, m)
		}
		return t.node.fs.remove(t.dir, r.Root, m)
	}
	if !r.Begun && err == nil {
		return nil, nil // what is at the root is the user's
	}
	return nil, fmt.Errorf("the manifest cannot be read (%w), so nobody knows which files at %s were fetched: "+
		"nothing was deleted; `mob rm` without --content forgets the transfer", cmp.Or(err, os.ErrNotExist), r.Root)
}
