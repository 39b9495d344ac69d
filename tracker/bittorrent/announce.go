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

func (a *announce) maxPeers() int {
	if a.numWant < 0 {
		return defaultNumWant
	}
	return int(min(a.numWant, maxNumWant))
}

// announceReply is the dictionary of BEP 3, with the counts of a scrape. Peers are compact whatever the client
// asks for, as BEP 23 allows.
type announceReply struct {
	Counts
	ExternalIP []byte `bencode:"external ip"`
	Interval   int64  `bencode:"interval"` // seconds
	Peers      string `bencode:"peers"`
	Peers6     string `bencode:"peers6,omitempty"`
}

// Counts are the numbers of peers of a torrent, and of completed downloads. It is exported for the bencode
// package, which ignores an embedded field that is not. A client that announces by IPv4 and by IPv6 is two.
type Counts struct {
	Seeders   int `bencode:"complete"`
	Completed int `bencode:"downloaded"`
	Leechers  int `bencode:"incomplete"`
}

// The name of a group of peers is an address family and one of these.
const (
	seeders  = "s"
	leechers = "l"
)

var errNotServed = errors.New("this tracker does not serve the torrent")

// announce adds or updates a peer, or removes it when it stops. An error is for the client.
func (s *Server) announce(a *announce) (out announceReply, err error) {
	if !s.allows(a.hash) {
		return out, errNotServed
	}
	if a.addr.Port() == 0 {
		return out, errors.New("port 0 is not a valid port")
	}
	torrent := a.hash.AsString()
	out.ExternalIP = a.addr.Addr().AsSlice()
	out.Interval = int64(s.clients.Interval().Round(time.Second).Seconds())
	if a.event == "stopped" {
		s.clients.Leave(torrent, compact(a.addr))
		out.Counts, _ = s.scrape(torrent)
		return out, nil
	}
	own, other := "4", "6"
	if a.addr.Addr().Is6() {
		own, other = other, own
	}
	group := own + leechers
	if a.left == 0 {
		group = own + seeders
	}
	completed := a.event == "completed" && a.left == 0
	if err := s.clients.Announce(torrent, compact(a.addr), a.addr.Addr(), group, completed); err != nil {
		return out, err
	}
	if !s.allows(a.hash) { // the list was replaced since
		s.clients.Leave(torrent, compact(a.addr))
		return out, errNotServed
	}
	counts, in := s.scrape(torrent)
	n := a.maxPeers()
	peers := s.sample(a, own, n, in)
	more := s.sample(a, other, n-len(peers), in)
	if own == "6" {
		peers, more = more, peers
	}
	out.Counts, out.Peers, out.Peers6 = counts, strings.Join(peers, ""), strings.Join(more, "")
	return out, nil
}

// scrape returns the counts of a torrent, and its peers in each group, nil if it is not known.
func (s *Server) scrape(torrent string) (_ Counts, in map[string]int) {
	in, completed := s.clients.Count(torrent)
	return Counts{
		Seeders: in["4"+seeders] + in["6"+seeders], Completed: completed, Leechers: in["4"+leechers] + in["6"+leechers],
	}, in
}

// sample returns up to n peers of a family that the client can reach. A leecher gets seeders and
// leechers, half of each where there are enough: seeders have every piece, and leechers exchange
// pieces. A seeder gets seeders only where there are too few leechers: aria2 and Transmission announce
// that nothing is left while they have a magnet link only. in has the numbers of peers by group.
func (s *Server) sample(a *announce, family string, n int, in map[string]int) (out []string) {
	torrent, self := a.hash.AsString(), compact(a.addr)
	fill := func(group string, n int) {
		s.clients.Sample(torrent, group, func(id string) bool {
			if len(out) == n {
				return false
			}
			ip, _ := netip.AddrFromSlice([]byte(id[:len(id)-2]))
			if id != self && reach.MayLearn(a.addr.Addr(), ip) {
				out = append(out, id)
			}
			return true
		})
	}
	first := n
	if a.left != 0 {
		first -= min(n/2, in[family+seeders])
	}
	fill(family+leechers, first)
	fill(family+seeders, n)
	return out
}

// compact returns the compact form of a peer (BEP 23 and BEP 7), which is its id in the table.
func compact(a netip.AddrPort) string {
	return string(binary.BigEndian.AppendUint16(a.Addr().AsSlice(), a.Port()))
}
