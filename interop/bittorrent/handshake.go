package bittorrent

import (
	"errors"
	"io"
	"net"
	"net/netip"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// handshake is the first message of either side. [pp.Handshake] would reply to any
// info-hash, and before it has read one.
type handshake struct {
	extensions pp.PeerExtensionBits
	hash       proto.InfoHash
	peerID     [20]byte
}

// remotePeer is a client after the handshakes.
type remotePeer struct {
	net.Conn  // its reader and writer of messages, which may be encrypted
	handshake // of the client
	addr      netip.AddrPort
	dialed    bool
	release   func() // frees its slot of the server; set while it is connected
}

func (h *handshake) append(b []byte) []byte {
	b = append(b, pp.Protocol...)
	b = append(b, h.extensions[:]...)
	b = append(b, h.hash[:]...)
	return append(b, h.peerID[:]...)
}

var errNotBitTorrent = errors.New("not a BitTorrent handshake")

// readUpToHash reads a handshake up to the info-hash. There some clients wait for the
// reply. readPeerID reads the rest.
func (h *handshake) readUpToHash(r io.Reader) error {
	var b [len(pp.Protocol) + len(h.extensions) + len(h.hash)]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	rest := b[len(pp.Protocol):]
	if string(b[:len(pp.Protocol)]) != pp.Protocol {
		return errNotBitTorrent
	}
	copy(h.extensions[:], rest)
	copy(h.hash[:], rest[len(h.extensions):])
	return nil
}

func (h *handshake) readPeerID(r io.Reader) error {
	_, err := io.ReadFull(r, h.peerID[:])
	return err
}

func exchangeHandshakes(conn io.ReadWriter, own handshake) (remote handshake, err error) {
	if _, err := conn.Write(own.append(nil)); err != nil {
		return remote, err
	}
	if err := remote.readUpToHash(conn); err != nil {
		return remote, err
	}
	if remote.hash != own.hash {
		return remote, errors.New("the client replied with another info-hash")
	}
	return remote, remote.readPeerID(conn)
}

func extensions() pp.PeerExtensionBits {
	return pp.NewPeerExtensionBytes(pp.ExtensionBitLtep, pp.ExtensionBitFast)
}
