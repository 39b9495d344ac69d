package bittorrent

import (
	"math"
	"net/netip"

	"github.com/anacrolix/torrent/bencode"
	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/interop/bittorrent/bdecode"
)

// ownMetadataID is the number of metadata messages to the node.
const ownMetadataID pp.ExtensionNumber = 1

type extendedHandshake struct {
	pp.ExtendedHandshakeMessage
	// Mob is the libp2p id of a mob node.
	Mob string `bencode:"mob,omitempty"`
}

// extendedHandshake returns the handshake for a client at an address.
func (s *Server) extendedHandshake(to netip.AddrPort) extendedHandshake {
	return extendedHandshake{ExtendedHandshakeMessage: pp.ExtendedHandshakeMessage{
		M:      map[pp.ExtensionName]pp.ExtensionNumber{pp.ExtensionNameMetadata: ownMetadataID},
		V:      s.cfg.Client,
		Reqq:   ownReqq,
		Port:   s.port(),
		YourIp: to.Addr().AsSlice(),
	}}
}

func (h extendedHandshake) encode() []byte {
	return append([]byte{pp.HandshakeExtendedID}, bencode.MustMarshal(h)...)
}

func decodeExtendedHandshake(b []byte) (h extendedHandshake, err error) {
	d, _, err := bdecode.ReadDict(b, "m", "v", "reqq", "p", "metadata_size", "mob")
	if err != nil {
		return h, protocolError("extended handshake: %w", err)
	}
	m, _, _ := bdecode.ReadDict(d["m"], string(pp.ExtensionNameMetadata))
	if id := m.Integer(string(pp.ExtensionNameMetadata)); id > 0 && id <= math.MaxUint8 {
		h.M = map[pp.ExtensionName]pp.ExtensionNumber{pp.ExtensionNameMetadata: pp.ExtensionNumber(id)}
	}
	h.V, h.Mob = d.Text("v"), d.Text("mob")
	h.Reqq, h.Port, h.MetadataSize = int(d.Integer("reqq")), int(d.Integer("p")), int(d.Integer("metadata_size"))
	return h, nil
}

func (c *peerConn) onExtended(b []byte) error {
	switch pp.ExtensionNumber(b[0]) {
	case pp.HandshakeExtendedID:
		return c.onExtendedHandshake(b[1:])
	case ownMetadataID:
		return c.onMetadata(b[1:])
	}
	return nil
}

// onExtendedHandshake stores the handshake, and joins the swarm after the first one.
func (c *peerConn) onExtendedHandshake(b []byte) error {
	h, err := decodeExtendedHandshake(b)
	if err != nil {
		return err
	}
	if h.Mob != "" {
		return errMobNode
	}
	c.extended = h
	if !c.joined {
		c.join()
	}
	return nil
}

func encodeMetadata(id pp.ExtensionNumber, m pp.ExtendedMetadataRequestMsg, piece []byte) []byte {
	return append(append([]byte{byte(id)}, bencode.MustMarshal(m)...), piece...)
}

func decodeMetadata(b []byte) (m pp.ExtendedMetadataRequestMsg, piece []byte, err error) {
	d, after, err := bdecode.ReadDict(b, "msg_type", "piece", "total_size")
	if err != nil {
		return m, nil, protocolError("metadata message: %w", err)
	}
	m.Piece, m.TotalSize = int(d.Integer("piece")), int(d.Integer("total_size"))
	m.Type = pp.ExtendedMetadataRequestMsgType(d.Integer("msg_type"))
	return m, b[len(b)-after:], nil
}

func metadataPieces(size int) int { return (size + chunk - 1) / chunk }

// onMetadata serves a request for a piece of the info dictionary, subject to the limit of the upload. It ignores replies. It blocks
// until the piece is written: queued pieces for clients that do not read would take the node's memory.
func (c *peerConn) onMetadata(b []byte) error {
	m, _, err := decodeMetadata(b)
	if err != nil {
		return err
	}
	id := c.extended.M[pp.ExtensionNameMetadata]
	if m.Type != pp.RequestMetadataExtensionMsgType || id == 0 {
		return nil
	}
	info := c.swarm.torrent.Info()
	reply := pp.ExtendedMetadataRequestMsg{Type: pp.RejectMetadataExtensionMsgType, Piece: m.Piece}
	var piece []byte
	if m.Piece >= 0 && m.Piece < metadataPieces(len(info)) {
		begin := m.Piece * chunk
		piece = info[begin:min(begin+chunk, len(info))]
		reply.Type, reply.TotalSize = pp.DataMetadataExtensionMsgType, len(info)
	}
	if err := c.swarm.server.limiter.Wait(c.ctx, len(piece)); err != nil {
		return err
	}
	return c.out.write(appendMessage(nil, pp.Extended, encodeMetadata(id, reply, piece)))
}
