package bittorrent

import (
	"errors"
	"fmt"
	"io"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// handshake is what either side says first.
type handshake struct {
	bits pp.PeerExtensionBits
	hash proto.InfoHash
	id   [20]byte
}

// append encodes a handshake.
func (h *handshake) append(b []byte) []byte {
	b = append(b, protocolName...)
	b = append(b, h.bits[:]...)
	b = append(b, h.hash[:]...)
	return append(b, h.id[:]...)
}

// errForeign says that a connection is none of ours, which is nothing to log.
var errForeign = errors.New("not BitTorrent in the clear")

// readStart reads a handshake up to the info-hash, behind which some clients wait
// for the answer, and readID the rest.
func (h *handshake) readStart(r io.Reader) error {
	var b [len(protocolName) + len(h.bits) + len(h.hash)]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	rest := b[len(protocolName):]
	if string(b[:len(protocolName)]) != protocolName {
		return errForeign
	}
	copy(h.bits[:], rest)
	copy(h.hash[:], rest[len(h.bits):])
	return nil
}

func (h *handshake) readID(r io.Reader) error {
	_, err := io.ReadFull(r, h.id[:])
	return err
}

// greet exchanges handshakes over a connection that the node has dialled.
func greet(conn io.ReadWriter, own handshake) (h handshake, err error) {
	if _, err := conn.Write(own.append(nil)); err != nil {
		return h, err
	}
	if err := h.readStart(conn); err != nil {
		return h, err
	}
	if h.hash != own.hash {
		return h, fmt.Errorf("it speaks of torrent %v", h.hash)
	}
	return h, h.readID(conn)
}

// extensions are those that the node has.
func extensions() pp.PeerExtensionBits {
	return pp.NewPeerExtensionBytes(pp.ExtensionBitLtep, pp.ExtensionBitFast)
}
