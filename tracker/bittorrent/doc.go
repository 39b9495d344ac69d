// Package bittorrent is a tracker for stock BitTorrent clients, on one port
// number for TCP and UDP:
//
//	http://HOST:PORT/announce   BEP 3, with compact peers (23, 7) and external ip (24)
//	http://HOST:PORT/scrape     BEP 48, of named torrents only
//	udp://HOST:PORT/announce    BEP 15: connect, announce, scrape
//
// [Server] keeps all in memory: a torrent while it has peers, a peer while it
// announces, and every table has a bound in [Config]. A peer is an address and a
// port. The address is the one that the request came from, whatever the request
// says: otherwise anyone could direct a swarm at any address. Peer ids and keys are
// ignored.
//
// The server keeps nothing of a UDP client before the connection id shows that the
// client receives at its address, and until then no reply is longer than its request.
package bittorrent
