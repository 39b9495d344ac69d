package peer

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	if t := n.lookup(keys); t != nil && t.For(u) {
		return t, nil
	}
	if t := n.newest(abs, u); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %w", name, ErrUnknownTransfer)
}

// find returns the transfer of the content with one of these keys, nil if there is none. A
// transfer that began with a key takes precedence over one that learned of it. The caller has
// the lock.
func (n *Node) find(keys []cid.Cid) *Transfer {
	for _, key := range keys {
		if t := n.transfers[key]; t != nil {
			return t
		}
	}
	for _, t := range n.transfers {
		if slices.ContainsFunc(t.keys(), func(key cid.Cid) bool { return slices.Contains(keys, key) }) {
			return t
		}
	}
	return nil
}

// lookup is find for callers without the lock.
func (n *Node) lookup(keys []cid.Cid) *Transfer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.find(keys)
}

// byKey returns the transfer of the content with a binary key, nil if there is none.
func (n *Node) byKey(key []byte) *Transfer {
	id, err := cid.Cast(key)
	if err != nil {
		return nil
	}
	return n.lookup([]cid.Cid{id})
}

// Transfers returns all transfers, stopped ones too, the oldest first.
func (n *Node) Transfers() []*Transfer {
	n.mu.Lock()
	defer n.mu.Unlock()
	ts := make([]*Transfer, 0, len(n.transfers))
	for _, t := range n.transfers {
		ts = append(ts, t)
	}
	slices.SortFunc(ts, func(a, b *Transfer) int {
		return cmp.Or(a.record().Added.Compare(b.record().Added), cmp.Compare(a.ID.KeyString(), b.ID.KeyString()))
	})
	return ts
}

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
	if t.removed || !still() {
		return nil, nil
	}
	if r := t.record(); deleteContent && (r.Seed || t.joined != nil) {
		return nil, fmt.Errorf("%s was not fetched by mob: delete it yourself", cmp.Or(r.Root, "the content"))
	}
	t.halt(ErrStopped)
	if t.joined != nil {
		t.forget()
		return nil, nil
	}
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
	if err := os.RemoveAll(n.transferDir(t.ID)); err != nil {
		return left, err
	}
	t.forget()
	return left, nil
}

// removeContent deletes what was fetched. The manifest says what that is.
func (t *Transfer) removeContent() ([]store.Left, error) {
	d, r := t.Description(), t.record()
	err := d.Load()
	if m := d.Manifest(); m != nil {
		if r.User != nil {
			dir := t.node.transferDir(t.ID)
			return store.RemoveOn(vfs.As(r.User, r.Root, dir), dir, r.Root, m)
		}
		return t.node.fs.remove(t.node.transferDir(t.ID), r.Root, m)
	}
	if !r.Begun && err == nil {
		return nil, nil // what is at the root is the user's
	}
	return nil, fmt.Errorf("the manifest cannot be read (%w), so nobody knows which files at %s were fetched: "+
		"nothing was deleted; `mob rm` without --content forgets the transfer", cmp.Or(err, os.ErrNotExist), r.Root)
}
