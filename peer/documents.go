package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/ipfs/go-cid"
	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// manifestWait bounds the wait of a request for a manifest that this node is still seeking.
const manifestWait = 2 * time.Second

// documents serves the manifests, info dictionaries and plans of running transfers.
type documents struct {
	transfers *registry
	self      libpeer.ID
}

// serve serves the documents until ctx ends.
func (d documents) serve(ctx context.Context, h libhost.Host) {
	server := metadata.NewServer()
	for id, find := range map[protocol.ID]func(from libpeer.ID, key []byte) ([]byte, error){
		proto.ManifestProtocol: func(from libpeer.ID, key []byte) ([]byte, error) { return d.manifest(ctx, from, key) },
		proto.TorrentProtocol:  func(_ libpeer.ID, key []byte) ([]byte, error) { return d.torrent(key) },
		proto.PlanProtocol:     func(_ libpeer.ID, key []byte) ([]byte, error) { return d.plan(key) },
	} {
		h.SetStreamHandler(id, func(s network.Stream) {
			server.Serve(s, func(key []byte) ([]byte, error) { return find(s.Conn().RemotePeer(), key) })
		})
	}
}

// manifest returns an encoded manifest for another node. If this node is still seeking the
// manifest, nodes with a greater id wait for it: of members of a cluster that start together, few then fetch it
// over the WAN, and no two wait for each other.
func (d documents) manifest(ctx context.Context, from libpeer.ID, key []byte) ([]byte, error) {
	t, err := d.running(key)
	if err != nil {
		return nil, err
	}
	if from > d.self && !t.Description().Plain() {
		select {
		case <-t.Description().Known():
		case <-time.After(manifestWait):
		case <-ctx.Done():
		}
	}
	return t.Description().EncodedManifest()
}

// torrent returns an info dictionary.
func (d documents) torrent(key []byte) ([]byte, error) {
	t, err := d.running(key)
	if err != nil {
		return nil, err
	}
	if info := t.Description().Torrent(); info != nil {
		return info, nil
	}
	return nil, metadata.ErrNotOffered
}

// plan returns the encoded plan with a content id.
func (d documents) plan(key []byte) ([]byte, error) {
	id, err := cid.Cast(key)
	if err != nil {
		return nil, err
	}
	for _, t := range d.transfers.all() {
		if t.state().running() && t.Link().Plan.Equals(id) {
			return t.Description().EncodedPlan()
		}
	}
	return nil, fmt.Errorf("no running transfer with the plan %s", id)
}

// running returns the transfer with a key, and fails if it does not run.
func (d documents) running(key []byte) (*Transfer, error) {
	t := d.transfers.byKey(key)
	if t == nil || !t.state().running() {
		return nil, fmt.Errorf("no running transfer of %x", key)
	}
	return t, nil
}
