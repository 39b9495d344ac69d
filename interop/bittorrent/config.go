package bittorrent

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// Config is the configuration of a Server.
type Config struct {
	// Listen is the ADDR:PORT that clients connect to.
	Listen string
	// Upload limits the upload to all clients together, in bytes per second; 0 for no
	// limit.
	Upload int64
	// Torrent returns the torrent of a transfer, nil if it is not offered to clients.
	Torrent func(*peer.Transfer) *Torrent
	// Trackers are announce URLs that the operator named, which may have any address. Other addresses from
	// links and trackers are subject to a rule: no loopback, link-local, unspecified or multicast
	// address, and no private one if this machine has none. A tracker at a loopback, link-local
	// or private address may return clients at such addresses.
	Trackers []string
	// Dial connects to clients and trackers, without that rule. Nil means [net.Dialer.DialContext].
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Client is the name and version of the program that clients see.
	Client string
	// Log receives errors of single clients and trackers at level debug, and events for
	// operators at higher levels. Nil means no log.
	Log *slog.Logger
}

// Torrent is the torrent of a transfer.
type Torrent struct {
	// Hash is the info-hash.
	Hash proto.InfoHash
	// Info returns the encoded info dictionary, nil while it is missing. It may be called
	// from any goroutine.
	Info func() []byte
	// Trackers are announce URLs.
	Trackers []string
	// Peers are addresses of clients that may have the content.
	Peers []netip.AddrPort
	// Named are announce URLs that users of this node named. They may be at any address, like [Config.Trackers].
	Named []string
}

// Protocol constants.
const (
	// chunk is the length of a request that every client serves, and of a piece of
	// metadata (BEP 9), in bytes.
	chunk = 16 << 10
	// pieceHeader is the length of a piece message without its payload.
	pieceHeader = 13
)

// Limits for clients.
const (
	// maxClients bounds the connections of all torrents, maxConns the connections of one, and maxDialed the dialed ones among
	// them. maxHandshakes bounds the connections in their handshake. One address has as many as are free.
	maxClients    = 1000
	maxConns      = 200
	maxDialed     = 80
	maxHandshakes = 128
	// maxRequest bounds the length of a client's request, in bytes.
	maxRequest = 128 << 10
	// maxExtended bounds an extended message, and maxUnknown one of an unknown type.
	maxExtended = 64 << 10
	maxUnknown  = 64 << 10
	// maxUnsent bounds the messages that wait for a client that does not read, in bytes.
	maxUnsent = 4 << 20
	// maxUnrequested is the number of chunks that a client may send without a request.
	maxUnrequested = 64
	// maxClientName bounds the name of a client's program.
	maxClientName = 48
)

var (
	errBothSeeds  = errors.New("both sides are seeds")
	errMobNode    = errors.New("the client is a mob node")
	errSelf       = errors.New("the client is this node")
	errDuplicate  = errors.New("the client is connected already")
	errFull       = errors.New("too many clients are connected")
	errBanned     = errors.New("the address is banned")
	errNotReading = errors.New("the client does not read")
)
