package peer

import (
	"fmt"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// manifestWait bounds the wait of a request for a manifest that this node is still seeking.
const manifestWait = 2 * time.Second

// serveDocuments serves the manifests, info dictionaries and plans of running transfers.
func (n *Node) serveDocuments() {
	server := metadata.NewServer()
	for id, find := range map[protocol.ID]func(from libpeer.ID, key []byte) ([]byte, error){
		proto.ManifestProtocol: n.manifestFor,
		proto.TorrentProtocol:  n.torrentFor,
		proto.PlanProtocol:     n.planFor,
	} {
		n.host.SetStreamHandler(id, func(s network.Stream) {
			server.Serve(s, func(key []byte) ([]byte, error) { return find(s.Conn().RemotePeer(), key) })
		})
	}
}

// manifestFor returns an encoded manifest for another node. If this node is still seeking the
// manifest, nodes with a greater id wait for it: of members of a cluster that start together, few then fetch it
// over the WAN, and no two wait for each other.
func (n *Node) manifestFor(from libpeer.ID, key []byte) ([]byte, error) {
	t, err := n.runningTransfer(key)
	if err != nil {
		return nil, err
	}
	if from > n.host.ID() && !t.Description().Plain() {
		select {
		case <-t.Description().Known():
		case <-time.After(manifestWait):
		case <-n.ctx.Done():
		}
	}
	return t.Description().EncodedManifest()
}

// torrentFor returns an info dictionary for another node.
func (n *Node) torrentFor(_ libpeer.ID, key []byte) ([]byte, error) {
	t, err := n.runningTransfer(key)
	if err != nil {
		return nil, err
	}
	if info := t.Description().Torrent(); info != nil {
		return info, nil
	}
	return nil, metadata.ErrNotOffered
}

// planFor returns the encoded plan with a content id for another node.
func (n *Node) planFor(_ libpeer.ID, key []byte) ([]byte, error) {
	id, err := cid.Cast(key)
	if err != nil {
		return nil, err
	}
	for _, t := range n.transfers.all() {
		if t.state().running() && t.Link().Plan.Equals(id) {
			return t.Description().EncodedPlan()
		}
	}
	return nil, fmt.Errorf("no running transfer with the plan %s", id)
}

// runningTransfer returns the transfer with a key, and fails if it does not run.
func (n *Node) runningTransfer(key []byte) (*Transfer, error) {
	t := n.transfers.byKey(key)
	if t == nil || !t.state().running() {
		return nil, fmt.Errorf("no running transfer of %x", key)
	}
	return t, nil
}
