package peer

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/metadata"
)

// loadTransfers loads the transfers in the data directory, and starts the ones that were not stopped.
// It logs and skips an invalid directory.
func (n *Node) loadTransfers() error {
	dirs, err := os.ReadDir(filepath.Join(n.cfg.Data, "transfers"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range dirs {
		id, err := cid.Decode(d.Name())
		var r metadata.Record
		if err == nil {
			r, err = metadata.LoadRecord(filepath.Join(n.cfg.Data, "transfers", id.String()))
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
		t := newTransfer(n, id, r)
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
