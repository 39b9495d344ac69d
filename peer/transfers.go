package peer

import (
	"cmp"
	"errors"
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
	t := n.transfers.find(keys...)
	if len(keys) == 0 {
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		t = n.transfers.newest(abs, u)
	}
	if t != nil && t.For(u) {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %w", name, ErrUnknownTransfer)
}

// Transfers returns all transfers, stopped ones too, the oldest first.
func (n *Node) Transfers() []*Transfer { return n.transfers.all() }

// Remove stops a transfer and deletes its state. If deleteContent is set, it deletes the files
// too, and fails if those were seeded: it deletes only what was fetched, and returns what it has
// left at the transfer's path, see [store.Remove]. It waits for the disk. If it fails, the
// transfer still exists, possibly stopped. If the machine crashes while files are deleted, it
// still exists and is stopped. Removing it again does nothing.
func (n *Node) Remove(t *Transfer, deleteContent bool) ([]store.Left, error) {
	return n.remove(t, deleteContent, func() bool { return true })
}

// remove is Remove, if condition holds once no other operation changes the transfer.
func (n *Node) remove(t *Transfer, deleteContent bool, condition func() bool) (left []store.Left, err error) {
	err = unlessRemoved(t.do(func() (err error) {
		rec := &t.state().rec
		switch {
		case !condition():
			return nil
		case deleteContent && t.dir == "":
			return errors.New("the content has no files, as for a pipe or a stream: `mob rm` it without --content")
		case deleteContent && rec.Seed:
			return fmt.Errorf("%s was seeded, and seeded files are never deleted: delete it yourself", rec.Root)
		}
		t.halt(ErrStopped)
		if deleteContent {
			// After a crash the next node must not fetch the deleted files. If the record
			// cannot be written to a full disk, they are deleted nevertheless.
			t.tryUpdate(func(r *metadata.Record) { r.Stopped = true })
			if left, err = t.removeContent(); err != nil {
				return err
			}
		}
		if t.dir != "" {
			if err := os.RemoveAll(t.dir); err != nil {
				return err
			}
		}
		n.transfers.remove(t)
		t.change(func(s *state) { s.settle(ErrStopped) }) // also if it has not run
		return nil
	}))
	return left, err
}

// removeContent deletes what was fetched. The manifest lists that.
func (t *Transfer) removeContent() ([]store.Left, error) {
	d, rec := t.Description(), &t.state().rec
	if t.node.fs.missing(rec.Root) {
		return []store.Left{{Path: rec.Root, Why: "not there, so nothing was deleted"}}, nil
	}
	err := d.Load()
	if m := d.Manifest(); m != nil {
		return store.Remove(t.dir, rec.Root, m, t.files(*rec))
	}
	if !rec.Begun && err == nil {
		return nil, nil // what is at the root is the user's
	}
	return nil, fmt.Errorf("the manifest cannot be read (%w), so the files that were fetched to %s are not known: "+
		"nothing was deleted; `mob rm` without --content forgets the transfer", cmp.Or(err, os.ErrNotExist), rec.Root)
}

// loadTransfers loads the transfers in the data directory, and starts the ones that were not stopped.
// It logs and skips an invalid directory.
func (n *Node) loadTransfers() error {
	dirs, err := os.ReadDir(filepath.Join(n.cfg.Data, "transfers"))
	if err != nil {
		return err
	}
	for _, d := range dirs {
		id, err := cid.Decode(d.Name())
		var r metadata.Record
		if err == nil {
			r, err = metadata.LoadRecord(n.transfers.dir(id))
		}
		if err != nil {
			n.log.Warn("invalid transfer directory", "directory", d.Name(), "error", err)
			continue
		}
		if r.Seed { // the node's addresses may have changed
			link := *r.Link
			link.Peers = n.Addrs()
			r.Link = &link
		}
		n.number.Store(max(n.number.Load(), r.Number))
		t := newTransfer(n, id, r, setup{dir: n.transfers.dir(id)})
		n.transfers.put(t)
		if r.Stopped {
			_ = t.Description().Load() // for its status, which shows less if that fails
			t.change(func(s *state) { s.settle(ErrStopped) })
		} else {
			t.start(false, false)
		}
	}
	return nil
}
