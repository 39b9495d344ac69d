package peer

import (
	"fmt"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/metadata"
)

// lookup is how long a member that asks for a manifest waits for this node to find it.
const lookup = 2 * time.Second

// manifestFor is the manifest of a content, encoded, for another node. While this one
// seeks it itself it has that one wait, so that of members of a cluster that begin together
// few have it over the WAN; but only nodes with a greater id, so that no two wait for each
// other.
func (n *Node) manifestFor(from libpeer.ID, key []byte) ([]byte, error) {
	if t, err := n.runs(key); err == nil && from > n.host.ID() && !t.Description().Plain() {
		select {
		case <-t.Description().Known():
		case <-time.After(lookup):
		case <-n.ctx.Done():
		}
	}
	return n.manifestBytes(key)
}

// manifestBytes is the manifest of a content, encoded, for others.
func (n *Node) manifestBytes(key []byte) ([]byte, error) {
	t, err := n.runs(key)
	if err != nil {
		return nil, err
	}
	return t.Description().EncodedManifest()
}

// torrentBytes is the info dictionary of a content, for others.
func (n *Node) torrentBytes(key []byte) ([]byte, error) {
	t, err := n.runs(key)
	if err != nil {
		return nil, err
	}
	if info := t.Torrent(); info != nil {
		return info, nil
	}
	return nil, metadata.ErrNotOffered
}

// runs is the transfer of a content that runs.
func (n *Node) runs(key []byte) (*Transfer, error) {
	t := n.named(key)
	if t == nil || !t.running() {
		return nil, fmt.Errorf("no transfer of %x runs", key)
	}
	return t, nil
}
