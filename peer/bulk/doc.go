// Package bulk carries bytes between two nodes over TLS sockets of their own,
// one or several per pair, on the port where libp2p listens. It knows no blocks.
//
// The first bytes of an incoming connection say whose it is:
//
//	TCP listener --> at most maxUndecided look at 3 bytes --+--> 16 03 ..  TLS: a bulk socket
//	                                                        +--> the rest: libp2p
//
// A bulk socket is TLS 1.3 with libp2p's certificates, so both sides prove the
// same peer ids as they do there, and with an ALPN of its own. After the
// handshake it is a plain stream of bytes: no muxer, which costs a quarter of
// the CPU, and as many flows as a long path needs. On Linux who reads it sleeps
// until all is there that the peer has begun to send.
package bulk
