// Package transport connects nodes: the libp2p host of a node or a tracker, and bulk
// sockets on the same port.
//
// A bulk socket carries bytes between two nodes over TLS, one or several per pair. The
// first bytes of an incoming connection distinguish the two:
//
//	TCP listener --> wait for 3 bytes --+--> 16 03 ..  TLS: a bulk socket
//	                                    +--> the rest: libp2p
//
// Bulk sockets use TLS 1.3 with libp2p's certificates, so both sides prove the same peer
// ids as in libp2p, and a separate ALPN. The records after the handshake have keys that are
// exported from it; see docs/wire.md. A socket is a plain stream of bytes without a muxer,
// which costs a quarter of the CPU, and a long path can have several flows. On Linux a reader
// sleeps until everything that the peer has started to send has arrived.
package transport
