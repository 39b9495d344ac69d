package peer

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/metadata"
)

func (n *Node) transferDir(id cid.Cid) string {
	return filepath.Join(n.cfg.Data, "transfers", id.String())
}

// loadTransfers takes up what an earlier run of the node left. A folder that
// makes no sense is left alone and logged.
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
			r, err = metadata.LoadRecord(n.transferDir(id))
		}
		if err != nil {
			n.log.Warn("transfer left out", "folder", d.Name(), "error", err)
			continue
		}
		if r.Seed { // the node may have other addresses now
			link := *r.Link
			link.Peers = n.Addrs()
			r.Link = &link
		}
		t := newTransfer(n, id, r)
		n.mu.Lock()
		n.transfers[id] = t
		n.mu.Unlock()
		if r.Stopped {
			_ = t.mu.desc.Load() // for display; without it there is just less to show
			t.giveUp(ErrStopped)
		} else {
			t.start(false)
		}
	}
	return nil
}
