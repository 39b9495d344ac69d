// Package bittorrent is a tracker for stock BitTorrent clients, on one port
// number for TCP and UDP:
//
//	http://HOST:PORT/announce   BEP 3, with compact peers (23, 7) and external ip (24)
//	http://HOST:PORT/scrape     BEP 48, of named torrents only
//	udp://HOST:PORT/announce    BEP 15: connect, announce, scrape
//
// [Server] keeps all in memory: a torrent is known while it has peers, a peer
// while it announces, and every table has a bound in [Config]. A peer is an
// address and a port. The address is where the request came from, whatever the
// request says: else a tracker could be made to send a swarm to anyone. Peer ids
// and keys are not looked at.
//
// Nothing of a UDP client is kept before it has shown that it receives what is
// sent to its address, and until then no answer is longer than its request.
package bittorrent
