package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// GetOptions are the options of [Node.Get].
type GetOptions struct {
	// Reuse takes over existing files at the destination: they are hashed, and only pieces
	// that differ are fetched.
	Reuse bool `json:"reuse,omitempty"`
	// Manifest is the encoded manifest that the link names. If it is nil, it is requested from members.
	Manifest []byte `json:"-"`
	// Journal is the journal of a store that has written path, and is closed: a new transfer continues it.
	Journal []byte `json:"-"`
	// Torrent is the info dictionary of the link's info-hash. If it is nil, it is requested
	// from members and BitTorrent clients.
	Torrent []byte `json:"torrent,omitempty"`
	// SpecialBits keeps the setuid, setgid and sticky bits of files, and setuid of directories. Only root may.
	SpecialBits bool `json:"special_bits,omitempty"`
	// Select chooses the files to fetch. A known transfer fetches what this call or an earlier one chooses.
	Select metadata.Selection `json:"select,omitzero"`
	// Priority is the priority of the transfer at this node. A known transfer keeps its priority if this is empty.
	Priority limit.Priority `json:"priority,omitempty"`
	// Permanent is set if only Remove ends the transfer, as the versions of a feed, and not [Node.SetKeep].
	Permanent bool `json:"-"`
	// User is the calling user, nil for the owner of the node. No file is written that
	// the user may not write, and Reuse must not be set.
	User *vfs.User `json:"-"`
	// Store, if not nil, opens the store of the content, once the manifest is known. The transfer closes it at its end.
	// There is no path then, and nothing of the transfer is in the data directory: a stopped transfer does not start
	// again, nor does the next node know it.
	Store func(*proto.Manifest) (store.Store, error) `json:"-"`
	// InOrder fetches from the front, unless the transfer is coded. Pieces of 16 MiB, and at least 16, are in any order.
	InOrder bool `json:"-"`
	// Origins are asked for missing pieces, in order, before the swarm starts. They are asked again when a call of Get
	// starts the transfer again.
	Origins []Origin `json:"-"`
}

var errSpecialBits = errors.New("only root may keep setuid and setgid bits (--special-bits)")

// Get starts to fetch the content of a link to path, which is the path of the file or directory itself.
// It does not wait for the content: see [Transfer.Wait]. It may wait
// for the disk. The link must not be changed afterwards.
//
// If the node has a transfer of the content, Get resumes it, with the fields of the link. It fails
// with an [*ElsewhereError] if that transfer has created files at another path, and with a
// [*store.ExistsError] if there is something at path, unless Reuse is set. It fails if the content of another
// transfer, or the data directory, is at path, above or below it, by whatever name. If the files of a complete
// content no longer exist, Get starts over at path. If some of them were changed or deleted, it fetches these.
func (n *Node) Get(link *proto.Link, path string, opt GetOptions) (*Transfer, error) {
	if len(link.Keys()) == 0 {
		return nil, errNoContent
	}
	if err := opt.Select.Check(); err != nil {
		return nil, err
	}
	if opt.Store != nil && !opt.Select.All() {
		return nil, errors.New("--include and --exclude require a path")
	}
	a := opt.addition(link)
	if opt.Store != nil {
		a.join = func(known *Transfer) error { return errKnown(known, opt.User) }
		return n.add(a)
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	for file, id := range map[string]cid.Cid{metadata.ManifestFile: link.Manifest, metadata.TorrentFile: link.InfoHash.CID()} {
		if b := a.files[file]; b != nil { // report an invalid one here
			if err := metadata.NewDescription("", id, link, n.cfg.Torrents).Set(file, b); err != nil {
				return nil, err
			}
		}
	}
	if root, err = n.transfers.pathFor(opt.User, root); err != nil {
		return nil, err
	}
	if opt.User != nil && opt.Reuse {
		return nil, errReuse
	}
	if opt.SpecialBits && (opt.User != nil || os.Geteuid() != 0) {
		return nil, errSpecialBits
	}
	if !opt.Select.All() {
		a.record.Selected = metadata.Selections{opt.Select}
	}
	a.record.Root = root
	if a.place, err = n.transfers.place(root); err != nil {
		return nil, err
	}
	if n.transfers.find(link.Keys()...) == nil { // what the store would report later, once the manifest is known
		if err := n.transfers.checkApart(a.place, a.record, nil); err != nil {
			return nil, err
		}
		if err := n.fs.checkFree(root, opt.Reuse || opt.Journal != nil, opt.User); err != nil {
			return nil, err
		}
	}
	return n.add(a)
}

// addition returns the operation of a get, without a place.
func (o *GetOptions) addition(link *proto.Link) addition {
	return addition{
		record: metadata.Record{
			Link: link, Added: time.Now(), User: o.User, SpecialBits: o.SpecialBits, InOrder: o.InOrder, Priority: o.Priority,
			Permanent: o.Permanent,
		},
		files: map[string][]byte{
			metadata.ManifestFile: o.Manifest, metadata.TorrentFile: o.Torrent, store.JournalFile: o.Journal,
		},
		reuse: o.Reuse,
		setup: setup{open: o.Store, origins: o.Origins},
	}
}

// checkFree fails if files cannot be created at root. It creates missing directories above it for the owner of the
// node only: another user would not own them.
func (fsys *fileSystem) checkFree(root string, reuse bool, u *vfs.User) error {
	fi, err := fsys.lstat(root)
	if err == nil && !reuse {
		return &store.ExistsError{Path: root, Dir: fi.IsDir()}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(root)
	fi, err = os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) && u == nil {
		return os.MkdirAll(dir, 0o777)
	}
	if err != nil || !fi.IsDir() {
		return fmt.Errorf("the directory %s does not exist: create it first", dir)
	}
	return nil
}
