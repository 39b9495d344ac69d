package peer

import (
	"os"
	"time"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// SetLstat replaces how a node looks at a destination.
func (n *Node) SetLstat(lstat func(path string) (os.FileInfo, error)) { n.fs.lstat = lstat }

// WithStore wraps the stores of a node's transfers from its start on.
func WithStore(wrap func(store.Store) store.Store) Option {
	return func(n *Node) { n.fs.wrap = wrap }
}

// SetStore wraps the stores of a node's transfers.
func (n *Node) SetStore(wrap func(store.Store) store.Store) { n.fs.wrap = wrap }

// ManifestBytes returns an encoded manifest.
func (n *Node) ManifestBytes(key []byte) []byte {
	return n.documents.find(n.ctx, metadata.ManifestFile, n.host.ID(), key)
}

// Dir returns the directory of a transfer's state.
func (t *Transfer) Dir() string { return t.dir }

// Node returns the node of a transfer.
func (t *Transfer) Node() *Node { return t.node }

// EndAll ends the transfers of a node that end at a time.
func EndAll(n *Node, now time.Time) { n.endKept(now).Wait() }

// WithFiles has a node open files on a file system.
func WithFiles(fsys vfs.FS) Option { return func(n *Node) { n.SetFiles(fsys) } }

// SetFiles has a node open, create and delete files on a file system from now on.
func (n *Node) SetFiles(fsys vfs.FS) { n.files = store.NewFilesOn(fsys, 64) }

// LookNow compares the entries of a transfer with the disk, whenever that was done last. It reports false if they cannot be
// compared.
func LookNow(t *Transfer) (store.State, bool) {
	disk := t.state().disk()
	if disk == nil {
		return store.State{}, false
	}
	state, err := disk.Look(t.node.ctx)
	return state, err == nil
}

// Called reports whether a call that changes a transfer runs or waits.
func Called(t *Transfer) bool { return t.ops.calls.Load() > 0 }

// Ending is closed once the swarm of a transfer is to end.
func (t *Transfer) Ending() <-chan struct{} {
	return t.state().swarm.Context().Done()
}

// Governed returns the limits that the node's governor has set.
func (t *Transfer) Governed() limit.Limits { return t.governed.Limits() }
