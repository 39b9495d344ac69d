// Package bittorrent is a tracker for stock BitTorrent clients, over HTTP:
//
//	http://HOST:PORT/announce   BEP 3, with compact peers (23, 7) and external ip (24)
//	http://HOST:PORT/scrape     BEP 48, of named torrents only
//
// [Server] keeps all in memory: a torrent while it has peers, a peer while it
// announces, and every table has a bound in [Config]. A peer is an address and a
// port. The address is the one that the request came from, whatever the request
// says: otherwise anyone could direct a swarm at any address. Peer ids and keys are
// ignored.
package bittorrent
