package bittorrent

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/tracker/udp"
	"github.com/anacrolix/torrent/types/infohash"
)

const (
	// headerLen is the length of a request's header, in bytes.
	headerLen = 16
	// maxPacket is more than the length of any valid request, in bytes.
	maxPacket = 2048
	// maxNumWant6 peers fit a packet that every IPv6 path carries.
	maxNumWant6 = 67
)

// serveUDP answers packets one after the other, until the socket is closed. What does
// not fit the socket's buffer meanwhile is lost, and clients retry.
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

// packet is the reply to a packet, nil for none. Without a valid connection id it is
// no longer than the packet.
func (s *Server) packet(b []byte, from netip.Addr) []byte {
	var h udp.RequestHeader
	if _, err := binary.Decode(b, binary.BigEndian, &h); err != nil {
		return nil
	}
	var req udp.AnnounceRequest
	switch h.Action {
	case udp.ActionConnect:
		if h.ConnectionId != udp.ConnectRequestConnectionId {
			return nil
		}
		return binary.BigEndian.AppendUint64(header(udp.ActionConnect, h), s.cookies.issue(s.clock(), from))
	case udp.ActionAnnounce:
		// Options may follow (BEP 41), of which none matters here.
		if _, err := binary.Decode(b[headerLen:], binary.BigEndian, &req); err != nil {
			return nil
		}
	case udp.ActionScrape:
		if len(b) < headerLen+infohash.Size {
			return nil
		}
	default:
		return nil
	}
	if !s.cookies.valid(s.clock(), from, h.ConnectionId) {
		return append(header(udp.ActionError, h), "connection id unknown"...)
	}
	var out []byte
	var err error
	if h.Action == udp.ActionAnnounce {
		out, err = s.udpAnnounce(header(udp.ActionAnnounce, h), &req, from)
	} else {
		out, err = s.udpScrape(header(udp.ActionScrape, h), b[headerLen:])
	}
	if err != nil {
		s.cfg.Log.Debug("request refused", "from", from, "reason", err)
		return append(header(udp.ActionError, h), err.Error()...)
	}
	return out
}

// header is the header of a reply to a request.
func header(action udp.Action, request udp.RequestHeader) []byte {
	return appendFixed(nil, udp.ResponseHeader{Action: action, TransactionId: request.TransactionId})
}

// appendFixed appends a value of fixed size.
func appendFixed(b []byte, v any) []byte {
	b, err := binary.Append(b, binary.BigEndian, v)
	if err != nil {
		panic(err) // v has no fixed size
	}
	return b
}

func (s *Server) udpAnnounce(out []byte, req *udp.AnnounceRequest, from netip.Addr) ([]byte, error) {
	a := &announce{
		hash:    req.InfoHash,
		addr:    netip.AddrPortFrom(from, req.Port),
		left:    req.Left,
		event:   req.Event,
		numWant: int64(req.NumWant),
	}
	if from.Is6() {
		a.numWant = min(a.numWant, maxNumWant6)
	}
	r, err := s.announce(a)
	if err != nil {
		return nil, err
	}
	out = appendFixed(out, udp.AnnounceResponseHeader{
		Interval: int32(seconds(r.interval)),
		Leechers: r.stats.Leechers,
		Seeders:  r.stats.Seeders,
	})
	return appendCompact(appendCompact(out, r.peers4), r.peers6), nil
}

func (s *Server) udpScrape(out, hashes []byte) ([]byte, error) {
	if len(hashes) > maxScrape*infohash.Size {
		return nil, errors.New("too many torrents at a time")
	}
	for ; len(hashes) >= infohash.Size; hashes = hashes[infohash.Size:] {
		stats, _ := s.scrape(infohash.T(hashes[:infohash.Size]))
		out = appendFixed(out, stats)
	}
	return out, nil
}

// cookieTerm is how long a connection id is valid at least, and half of how long at
// most. BEP 15 asks for two minutes.
const cookieTerm = 2 * time.Minute

// cookies issues and verifies connection ids (BEP 15) without storing them: an id is a
// keyed hash of the address and the time. A client that sends it back has received it
// at that address.
type cookies struct{ key [32]byte }

func newCookies() *cookies {
	c := new(cookies)
	_, _ = rand.Read(c.key[:]) // never fails
	return c
}

func (c *cookies) issue(now time.Time, to netip.Addr) uint64 { return c.id(term(now), to) }

func (c *cookies) valid(now time.Time, from netip.Addr, id uint64) bool {
	t := term(now)
	return id == c.id(t, from) || id == c.id(t-1, from)
}

func term(now time.Time) int64 { return now.Unix() / int64(cookieTerm/time.Second) }

func (c *cookies) id(term int64, addr netip.Addr) uint64 {
	mac := hmac.New(sha256.New, c.key[:])
	bytes := addr.As16()
	mac.Write(bytes[:])
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(term)))
	return binary.BigEndian.Uint64(mac.Sum(nil))
}
