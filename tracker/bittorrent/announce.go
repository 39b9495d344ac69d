package bittorrent

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/anacrolix/torrent/types/infohash"

	"github.com/mobgrid/mob/proto/reach"
)

// Numbers of peers in a reply.
const (
	defaultNumWant = 50
	maxNumWant     = 200
)

// announce is a client's request.
type announce struct {
	hash infohash.T
	// addr is the listening address of the client, without zone, and unmapped if it is IPv4.
	addr netip.AddrPort
	// left is the number of bytes that the client needs: 0 for a seeder, negative if it is unknown.
	left  int64
	event string // started, stopped, completed or empty; any other is as empty
	// numWant is the number of peers that the client asks for; negative for the default.
	numWant int64
}

// maxPeers bounds the peers in the reply.
func (a *announce) maxPeers() int {
	if a.numWant < 0 {
		return defaultNumWant
	}
	return int(min(a.numWant, maxNumWant))
}

// announceResult is the reply to an announce.
type announceResult struct {
	// interval is the announce interval.
	interval time.Duration
	counts   Counts
	// peers4 and peers6 are other peers in compact form, by address family.
	peers4, peers6 string
}

// Counts are the numbers of peers of a torrent, and of completed downloads. It is exported for the bencode
// package, which ignores an embedded field that is not. A client that announces by IPv4 and by IPv6 is two.
type Counts struct {
	Seeders   int `bencode:"complete"`
	Completed int `bencode:"downloaded"`
	Leechers  int `bencode:"incomplete"`
}

// family is the names of the groups that the peers of an address family are in.
type family struct{ seeders, leechers string }

func v4() family { return family{"4s", "4l"} }

func v6() family { return family{"6s", "6l"} }

// announce adds or updates a peer, or removes it when it stops. An error is for the client.
func (s *Server) announce(a *announce) (announceResult, error) {
	s.counts.requests.Add(1)
	out, err := s.handleAnnounce(a)
	if err != nil {
		s.counts.rejected.Add(1)
	}
	return out, err
}

var errNotServed = errors.New("this tracker does not serve the torrent")

func (s *Server) handleAnnounce(a *announce) (out announceResult, err error) {
	if !s.allows(a.hash) {
		return out, errNotServed
	}
	if a.addr.Port() == 0 {
		return out, errors.New("port 0 is not a valid port")
	}
	torrent, is6 := a.hash.AsString(), a.addr.Addr().Is6()
	own, other := v4(), v6()
	if is6 {
		own, other = other, own
	}
	out.interval = s.clients.Interval()
	if a.event == "stopped" {
		s.clients.Leave(torrent, compact(a.addr))
		out.counts, _ = s.scrape(torrent)
		return out, nil
	}
	group := own.leechers
	if a.left == 0 {
		group = own.seeders
	}
	completed := a.event == "completed" && a.left == 0
	if err := s.clients.Announce(torrent, compact(a.addr), a.addr.Addr(), group, completed); err != nil {
		return out, err
	}
	if !s.allows(a.hash) { // the list was replaced since
		s.clients.Leave(torrent, compact(a.addr))
		return out, errNotServed
	}
	in, completions := s.clients.Count(torrent)
	out.counts = countsOf(in, completions)
	n := a.maxPeers()
	ownPeers := s.sample(a, own, n, in)
	otherPeers := s.sample(a, other, n-len(ownPeers), in)
	if is6 {
		ownPeers, otherPeers = otherPeers, ownPeers
	}
	out.peers4, out.peers6 = strings.Join(ownPeers, ""), strings.Join(otherPeers, "")
	return out, nil
}

// scrape counts the peers of a torrent.
func (s *Server) scrape(torrent string) (_ Counts, known bool) {
	in, completed := s.clients.Count(torrent)
	return countsOf(in, completed), in != nil
}

// countsOf returns the counts of a torrent with the given peers in each group.
func countsOf(in map[string]int, completed int) Counts {
	return Counts{
		Seeders:   in[v4().seeders] + in[v6().seeders],
		Completed: completed,
		Leechers:  in[v4().leechers] + in[v6().leechers],
	}
}

// sample returns up to n peers of a family that the client can reach. A leecher gets seeders and
// leechers, half of each where there are enough: seeders have every piece, and leechers exchange
// pieces. A seeder gets seeders only where there are too few leechers: aria2 and Transmission announce
// that nothing is left while they have a magnet link only. in has the numbers of peers by group.
func (s *Server) sample(a *announce, from family, n int, in map[string]int) (out []string) {
	torrent, self := a.hash.AsString(), compact(a.addr)
	fill := func(group string, n int) {
		s.clients.Sample(torrent, group, func(id string) bool {
			if len(out) == n {
				return false
			}
			ip, _ := netip.AddrFromSlice([]byte(id[:len(id)-2]))
			if id != self && reachable(ip, a.addr.Addr()) {
				out = append(out, id)
			}
			return true
		})
	}
	leechers := n
	if a.left != 0 {
		leechers -= min(n/2, in[from.seeders])
	}
	fill(from.leechers, leechers)
	fill(from.seeders, n)
	return out
}

// compact returns the compact form of a peer (BEP 23 and BEP 7), which is its id in the table.
func compact(a netip.AddrPort) string {
	return string(binary.BigEndian.AppendUint16(a.Addr().AsSlice(), a.Port()))
}

// reachable reports whether an address may be sent to a client: a loopback or link-local one only
// to a client whose address is one, or it would connect to its own machine or link.
func reachable(a, client netip.Addr) bool {
	r := reach.Of(a)
	return r >= reach.ThisSite || r == reach.Of(client)
}
