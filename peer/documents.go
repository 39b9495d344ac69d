package peer

import (
	"fmt"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/metadata"
)

// manifestWait is how long the request for a manifest that this node is still seeking waits.
const manifestWait = 2 * time.Second

// manifestFor returns the encoded manifest of a content for another node. While this node seeks
// the manifest, the other waits: of members of a cluster that begin together, few then fetch it
// over the WAN. Only nodes with a greater id wait, so that no two wait for each other.
func (n *Node) manifestFor(from libpeer.ID, key []byte) ([]byte, error) {
	if t, err := n.runningTransfer(key); err == nil && from > n.host.ID() && !t.Description().Plain() {
		select {
		case <-t.Description().Known():
		case <-time.After(manifestWait):
		case <-n.ctx.Done():
		}
	}
	return n.manifestBytes(key)
}

// manifestBytes returns the encoded manifest of a content.
func (n *Node) manifestBytes(key []byte) ([]byte, error) {
	t, err := n.runningTransfer(key)
	if err != nil {
		return nil, err
	}
	return t.Description().EncodedManifest()
}

// torrentBytes returns the info dictionary of a content.
func (n *Node) torrentBytes(key []byte) ([]byte, error) {
	t, err := n.runningTransfer(key)
	if err != nil {
		return nil, err
	}
	if info := t.Torrent(); info != nil {
		return info, nil
	}
	return nil, metadata.ErrNotOffered
}

// runningTransfer returns the transfer of a content, and fails if none runs.
func (n *Node) runningTransfer(key []byte) (*Transfer, error) {
	t := n.byKey(key)
	if t == nil || !t.running() {
		return nil, fmt.Errorf("no running transfer of %x", key)
	}
	return t, nil
}
