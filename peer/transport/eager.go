package transport

import (
	"context"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	manet "github.com/multiformats/go-multiaddr/net"
	msmux "github.com/multiformats/go-multistream"
)

// eagerUpgrader dials without the round trip in which libp2p's upgrader waits for the peer to agree to
// TLS. There is nothing else to choose, so the handshake starts immediately.
type eagerUpgrader struct{ transport.Upgrader }

func (u eagerUpgrader) Upgrade(
	ctx context.Context, t transport.Transport, c manet.Conn, dir network.Direction, id peer.ID,
	scope network.ConnManagementScope,
) (transport.CapableConn, error) {
	if dir == network.DirOutbound {
		c = &eagerConn{Conn: c, lazy: msmux.NewMSSelect(c, libp2ptls.ID), unsent: len(offer), answer: offer}
	}
	return u.Upgrader.Upgrade(ctx, t, c, dir, id, scope)
}

// offer contains the upgrader's first bytes, which a peer that agrees sends back.
const offer = "\x13/multistream/1.0.0\n" + "\x0b" + libp2ptls.ID + "\n"

// eagerConn takes the offer from the upgrader, and answers it. It sends the offer with what follows,
// and reads the peer's answer to it before the rest, which fails if the peer does not agree.
type eagerConn struct {
	manet.Conn
	lazy   msmux.LazyConn
	unsent int    // bytes of the offer that the upgrader has not written yet
	answer string // unread part of the answer
}

func (c *eagerConn) Write(b []byte) (int, error) {
	k := min(len(b), c.unsent)
	c.unsent -= k
	if k > 0 && k == len(b) {
		return k, nil
	}
	n, err := c.lazy.Write(b[k:])
	return k + n, err
}

func (c *eagerConn) Read(b []byte) (int, error) {
	if c.answer != "" {
		n := copy(b, c.answer)
		c.answer = c.answer[n:]
		return n, nil
	}
	return c.lazy.Read(b)
}
