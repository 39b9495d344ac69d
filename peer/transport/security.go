package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
)

// newIdentity returns the TLS identity of a key. Its certificate is valid by every clock. Peers whose clock is an hour behind
// reject the certificate of libp2p.
func newIdentity(key crypto.PrivKey) (*libp2ptls.Identity, error) {
	return libp2ptls.NewIdentity(key, libp2ptls.WithCertTemplate(&x509.Certificate{
		Subject:   pkix.Name{CommonName: "mob"}, // the issuer, too, which must not be empty
		NotBefore: time.Unix(0, 0),
		NotAfter:  time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280, section 4.1.2.5
	}))
}

// security is libp2p's TLS with [newIdentity], which [libp2ptls.Transport] does not take.
type security struct {
	identity *libp2ptls.Identity
	local    peer.ID
}

// ID implements [sec.SecureTransport].
func (s *security) ID() protocol.ID { return libp2ptls.ID }

// SecureInbound implements [sec.SecureTransport].
func (s *security) SecureInbound(ctx context.Context, c net.Conn, from peer.ID) (sec.SecureConn, error) {
	return s.handshake(ctx, c, from, tls.Server)
}

// SecureOutbound implements [sec.SecureTransport].
func (s *security) SecureOutbound(ctx context.Context, c net.Conn, to peer.ID) (sec.SecureConn, error) {
	return s.handshake(ctx, c, to, tls.Client)
}

// handshake negotiates the muxer, too.
func (s *security) handshake(ctx context.Context, c net.Conn, id peer.ID, end func(net.Conn, *tls.Config) *tls.Conn) (sec.SecureConn, error) {
	config, key := s.identity.ConfigForPeer(id)
	config.NextProtos = append([]string{yamux.ID}, config.NextProtos...)
	t := end(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	remote := <-key // sent by every handshake that succeeds
	id, err := peer.IDFromPublicKey(remote)
	return &securedConn{t, s.local, id, remote}, err
}

// securedConn is a connection after the handshake.
type securedConn struct {
	*tls.Conn
	local, remote peer.ID
	key           crypto.PubKey // of the remote peer
}

// LocalPeer implements [network.ConnSecurity].
func (c *securedConn) LocalPeer() peer.ID { return c.local }

// RemotePeer implements [network.ConnSecurity].
func (c *securedConn) RemotePeer() peer.ID { return c.remote }

// RemotePublicKey implements [network.ConnSecurity].
func (c *securedConn) RemotePublicKey() crypto.PubKey { return c.key }

// ConnState implements [network.ConnSecurity]. Without a muxer libp2p negotiates it afterwards.
func (c *securedConn) ConnState() (s network.ConnectionState) {
	if c.ConnectionState().NegotiatedProtocol == yamux.ID {
		s.StreamMultiplexer, s.UsedEarlyMuxerNegotiation = yamux.ID, true
	}
	return s
}
