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

// Config says what a Server needs.
type Config struct {
	// Listen is the ADDR:PORT at which guests are accepted.
	Listen string
	// Upload bounds what goes to all guests together, in bytes per second; 0 for no
	// bound.
	Upload int64
	// Torrent is what BitTorrent knows of a transfer, nil when it is not offered to
	// stock clients.
	Torrent func(*peer.Transfer) *Torrent
	// Dial connects to guests and trackers; nil for the network's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Client is what guests are told that the node runs.
	Client string
	// Log receives what an operator may want to know. Nil means no log.
	Log *slog.Logger
}

// Torrent is a transfer as BitTorrent knows it.
type Torrent struct {
	// Hash is the info-hash.
	Hash proto.InfoHash
	// Info is the info dictionary, encoded, and empty while it is not known here. It
	// may be called from any goroutine.
	Info func() []byte
	// Trackers are the announce URLs, and Peers clients that may have the content.
	Trackers []string
	Peers    []netip.AddrPort
}

// Protocol constants.
const (
	protocolName = "\x13BitTorrent protocol"
	// chunk is the part of a piece that every client serves at a time, and a piece of
	// metadata, in bytes.
	chunk = 16 << 10
	// maxRequest bounds what a guest may ask for at a time.
	maxRequest = 128 << 10
	// pieceHeader is what precedes the payload of a piece message, its length included.
	pieceHeader = 13
)

// Bounds on what guests may cost.
const (
	// maxGuests bounds the guests of one swarm, and maxDialed those of them that the
	// node has dialled. maxStrangers bounds the connections that have not shown yet
	// what they are about.
	maxGuests    = 200
	maxDialed    = 80
	maxStrangers = 128
	// maxExtended bounds an extended message.
	maxExtended = 64 << 10
	// maxUnsent is how many bytes of messages may wait for a guest that does not read.
	maxUnsent = 4 << 20
	// maxUnasked is how many blocks a guest may send that nobody asked it for.
	maxUnasked = 64
	// maxClient bounds the name of a guest's program.
	maxClient = 48
)

var (
	errBothWhole = errors.New("both have everything")
	errNode      = errors.New("it is a mob node")
	errSelf      = errors.New("it is this node")
	errTwice     = errors.New("it is connected already")
	errFull      = errors.New("too many guests")
)
