package peer

import (
	"context"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// channel is a one-way path for blocks between two nodes. What carries it is
// not its users' business: now a libp2p stream.
type channel interface {
	io.ReadWriter
	// SetWriteDeadline and SetReadDeadline bound calls, begun ones included.
	SetWriteDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	// Reset ends the channel at once, from any goroutine.
	Reset() error
}

// openBulk opens a channel to send blocks on. The two nodes must be connected.
func openBulk(ctx context.Context, h host.Host, to libpeer.ID) (channel, error) {
	return h.NewStream(network.WithNoDial(ctx, "the control stream is gone"), to, proto.BulkProtocol)
}

// acceptBulk hands every channel that others open to f, in its own goroutine.
func acceptBulk(h host.Host, f func(from libpeer.ID, c channel)) {
	h.SetStreamHandler(proto.BulkProtocol, func(s network.Stream) { f(s.Conn().RemotePeer(), s) })
}
