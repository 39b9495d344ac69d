package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// GetOptions are the choices of [Node.Get].
type GetOptions struct {
	// Reuse takes over what is at the destination: it is hashed, and only what differs is
	// fetched.
	Reuse bool
	// Torrent is the info dictionary of the link's info-hash. If it is nil it is requested
	// of members and BitTorrent clients.
	Torrent []byte
}

// Get begins to fetch the content of link to path, which is the file or the folder itself,
// or resumes that. The link must not be changed any more. Get waits for the disk, but not for
// the content: see [Transfer.Wait]. It fails with [*store.ExistsError] if something is at path
// and Reuse is not set, and with [*ElsewhereError] if the content is at another path.
func (n *Node) Get(link *proto.Link, path string, opt GetOptions) (*Transfer, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if len(link.Keys()) == 0 {
		return nil, errNoContent
	}
	if opt.Torrent != nil { // report what is wrong with it at once
		d := metadata.NewDescription("", link.InfoHash.CID(), link.InfoHash, n.cfg.Torrents)
		if err := d.SetTorrent(opt.Torrent); err != nil {
			return nil, err
		}
	}
	if n.lookup(link.Keys()) == nil {
		if err := n.checkDestination(root, opt.Reuse); err != nil {
			return nil, err
		}
	}
	return n.add(addition{
		record: metadata.Record{Root: root, Link: link, Added: time.Now()},
		files:  map[string][]byte{metadata.TorrentFile: opt.Torrent},
		reuse:  opt.Reuse,
	})
}

// checkDestination reports early what the store would report once the manifest is there.
func (n *Node) checkDestination(root string, reuse bool) error {
	if err := n.checkRoot(root); err != nil {
		return err
	}
	fi, err := n.fs.lstat(root)
	if err == nil && !reuse {
		return &store.ExistsError{Path: root, Dir: fi.IsDir()}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	fi, err = os.Stat(filepath.Dir(root))
	if err != nil || !fi.IsDir() {
		return fmt.Errorf("the folder %s is not there: create it first", filepath.Dir(root))
	}
	return nil
}
