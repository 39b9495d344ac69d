package peer

import (
	"context"
	"sync"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// directory is a tracker in memory: it tells everybody of everybody.
type directory struct {
	mu      sync.Mutex
	members map[string]map[proto.PeerID]proto.Member // by swarm
	down    bool
}

func newDirectory() *directory {
	return &directory{members: map[string]map[proto.PeerID]proto.Member{}}
}

// trackerAddr stands for a tracker that is never dialled.
const trackerAddr = "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWDqsZQiT2g8WmjoumgasA2cXosrVd7SEFWGPWJFoneGbx"

func (d *directory) finder(h host.Host, _ []ma.Multiaddr) Finder {
	return &directoryFinder{d, proto.PeerID(h.ID())}
}

type directoryFinder struct {
	d    *directory
	self proto.PeerID
}

func (f *directoryFinder) Announce(_ context.Context, a *proto.Announce) (*proto.Handout, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.down {
		return nil, context.DeadlineExceeded
	}
	swarm := f.d.members[string(a.Swarm)]
	if swarm == nil {
		swarm = map[proto.PeerID]proto.Member{}
		f.d.members[string(a.Swarm)] = swarm
	}
	if a.Leaving {
		delete(swarm, f.self)
		return &proto.Handout{Interval: 30}, nil
	}
	h := &proto.Handout{Interval: 30}
	for id, m := range swarm {
		if id != f.self {
			h.Members = append(h.Members, m)
		}
	}
	swarm[f.self] = proto.Member{ID: f.self, Cluster: a.Cluster, Addrs: a.Addrs}
	return h, nil
}

func (f *directoryFinder) Close() error { return nil }
