package transport

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
)

// OpenStream opens a stream to a peer, and connects to it first if need be. It ignores libp2p's backoff
// after a failed dial.
func OpenStream(ctx context.Context, h host.Host, to peer.AddrInfo, id protocol.ID) (network.Stream, error) {
	if sw, ok := h.Network().(*swarm.Swarm); ok {
		sw.Backoff().Clear(to.ID)
	}
	if err := h.Connect(ctx, to); err != nil {
		return nil, err
	}
	return h.NewStream(ctx, to.ID, id)
}

// CloseOld closes the connections to a peer that were opened before a time and have fallen silent, unless
// the peer is protected. TCP would retransmit lost bytes after ever longer times.
func CloseOld(h host.Host, id peer.ID, before time.Time) {
	if h.ConnManager().IsProtected(id, "") {
		return
	}
	for _, c := range h.Network().ConnsToPeer(id) {
		if c.Stat().Opened.Before(before) {
			_ = c.Close()
		}
	}
}
