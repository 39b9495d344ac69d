package peer

import (
	"context"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/metadata"
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
	for file, id := range metadata.Protocols {
		h.SetStreamHandler(id, func(s network.Stream) {
			server.Serve(s, func(key []byte) []byte { return d.find(ctx, file, s.Conn().RemotePeer(), key) })
		})
	}
}

// find returns a document for another node, nil if this node does not have it. If this node is still seeking the
// manifest, nodes with a greater id wait for it: of members of a cluster that start together, few then fetch it
// over the WAN, and no two wait for each other.
func (d documents) find(ctx context.Context, file string, from libpeer.ID, key []byte) []byte {
	t := d.transfers.byKey(key)
	if file == metadata.PlanFile {
		t = d.withPlan(key)
	}
	if t == nil || !t.state().running() {
		return nil
	}
	description := t.Description()
	if file == metadata.ManifestFile && from > d.self && !description.Plain() {
		select {
		case <-description.Known():
		case <-time.After(manifestWait):
		case <-ctx.Done():
		}
	}
	return description.Document(file)
}

// withPlan returns a running transfer whose plan has a content id, nil if there is none.
func (d documents) withPlan(id []byte) *Transfer {
	for _, t := range d.transfers.all() {
		if t.state().running() && string(t.Link().Plan.Bytes()) == string(id) {
			return t
		}
	}
	return nil
}
