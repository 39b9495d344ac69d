package bittorrent

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// Actions of BEP 15.
const (
	actConnect  = 0
	actAnnounce = 1
	actScrape   = 2
	actError    = 3
)

const (
	// protocolID begins a connect.
	protocolID = 0x41727101980
	// Lengths of requests, in bytes; a scrape of one torrent.
	connectLen  = 16
	announceLen = 98
	scrapeLen   = 36
	// maxPacket is more than any request within the limits has.
	maxPacket = 2048
	// maxWant6 peers fit a packet that every IPv6 path carries.
	maxWant6 = 67
)

// serveUDP answers packets until the socket is closed, one after the other: what
// does not fit the socket's buffer meanwhile is lost, as packets may be.
func (s *Server) serveUDP(c *net.UDPConn) {
	buf := make([]byte, maxPacket)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.cfg.Log.Debug("packet not received", "error", err)
			time.Sleep(10 * time.Millisecond) // it may last
			continue
		}
		out := s.packet(buf[:n], plain(from.Addr()))
		if out == nil {
			continue
		}
		if _, err := c.WriteToUDPAddrPort(out, from); err != nil {
			s.cfg.Log.Debug("reply not sent", "from", from, "error", err)
		}
	}
}

// packet is the answer to a request, nil for none. Until the connection id shows
// that the client is where the packet says, it is no longer than the request.
func (s *Server) packet(b []byte, from netip.Addr) []byte {
	if len(b) < connectLen {
		return nil
	}
	id, action, transaction := binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), b[12:16]
	switch {
	case action == actConnect && id == protocolID:
		out := header(actConnect, transaction)
		return binary.BigEndian.AppendUint64(out, s.cookies.issue(s.clock(), from))
	case action == actAnnounce && len(b) >= announceLen:
	case action == actScrape && len(b) >= scrapeLen:
	default:
		return nil
	}
	if !s.cookies.valid(s.clock(), from, id) {
		return append(header(actError, transaction), "connection id unknown"...)
	}
	var out []byte
	var err error
	if action == actAnnounce {
		out, err = s.udpAnnounce(header(actAnnounce, transaction), b, from)
	} else {
		out, err = s.udpScrape(header(actScrape, transaction), b)
	}
	if err != nil {
		s.cfg.Log.Debug("request refused", "from", from, "reason", err)
		return append(header(actError, transaction), err.Error()...)
	}
	return out
}

// header begins an answer.
func header(action uint32, transaction []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, action), transaction...)
}

func (s *Server) udpAnnounce(out, b []byte, from netip.Addr) ([]byte, error) {
	reply, err := s.announce(readAnnounce(b, from))
	if err != nil {
		return nil, err
	}
	for _, n := range []int{int(seconds(reply.interval)), reply.partial, reply.whole} {
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	return appendCompact(appendCompact(out, reply.peers4), reply.peers6), nil
}

// readAnnounce reads an announce, of announceLen bytes at least. Options may
// follow (BEP 41), of which none matters here.
func readAnnounce(b []byte, from netip.Addr) *announce {
	a := &announce{
		hash:  infohash.T(b[16:36]),
		left:  int64(binary.BigEndian.Uint64(b[64:])),
		event: event(binary.BigEndian.Uint32(b[80:])),
		want:  int64(int32(binary.BigEndian.Uint32(b[92:]))),
		addr:  netip.AddrPortFrom(from, binary.BigEndian.Uint16(b[96:])),
	}
	if from.Is6() {
		a.want = min(a.want, maxWant6)
	}
	return a
}

func (s *Server) udpScrape(out, b []byte) ([]byte, error) {
	hashes := b[connectLen:]
	if len(hashes) > maxScrape*infohash.Size {
		return nil, errors.New("too many torrents at a time")
	}
	for ; len(hashes) >= infohash.Size; hashes = hashes[infohash.Size:] {
		c, _ := s.scrape(infohash.T(hashes[:infohash.Size]))
		for _, n := range []int{c.whole, c.downloads, c.partial} {
			out = binary.BigEndian.AppendUint32(out, uint32(n))
		}
	}
	return out, nil
}
