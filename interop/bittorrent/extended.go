package bittorrent

import (
	"bytes"
	"net/netip"

	"github.com/anacrolix/torrent/bencode"
	pp "github.com/anacrolix/torrent/peer_protocol"
)

// extended is the handshake of BEP 10, as far as it is of use here.
type extended struct {
	Messages map[string]int64 `bencode:"m"`
	Client   string           `bencode:"v,omitempty"`
	Port     int              `bencode:"p,omitempty"`
	Reqq     int              `bencode:"reqq,omitempty"`
	Metadata int              `bencode:"metadata_size,omitempty"`
	YourIP   []byte           `bencode:"yourip,omitempty"`
	// Mob is the libp2p id of a mob node.
	Mob string `bencode:"mob,omitempty"`
}

// ownMetadata is the number of metadata messages that come.
const ownMetadata = 1

// introduction is the extended handshake for a guest at an address.
func (s *swarm) introduction(to netip.AddrPort) []byte {
	b := bencode.MustMarshal(extended{
		Messages: map[string]int64{pp.ExtensionNameMetadata: ownMetadata},
		Client:   s.server.cfg.Client, Port: s.server.port(), Reqq: ownQueue, Metadata: len(s.torrent.Info()),
		YourIP: to.Addr().AsSlice(), Mob: s.transfer.NodeID(),
	})
	return append([]byte{pp.HandshakeExtendedID}, b...)
}

// extended does what an extended message says.
func (g *guest) extended(b []byte) error {
	if len(b) == 0 {
		return protocolError("empty extended message")
	}
	switch b[0] {
	case pp.HandshakeExtendedID:
		return g.introduced(b[1:])
	case ownMetadata:
		return g.metadata(b[1:])
	}
	return nil
}

// introduced takes in who the guest is. What it says later changes nothing but the
// numbers of its messages.
func (g *guest) introduced(b []byte) error {
	var said extended
	if err := bencode.NewDecoder(bytes.NewReader(b)).Decode(&said); err != nil {
		return protocolError("extended handshake: %w", err)
	}
	if said.Mob != "" {
		return errNode
	}
	g.said = said
	if g.joined {
		return nil
	}
	return g.join()
}

// metadataMessage is the head of a message of BEP 9.
type metadataMessage struct {
	Type  pp.ExtendedMetadataRequestMsgType `bencode:"msg_type"`
	Piece int                               `bencode:"piece"`
	Total int                               `bencode:"total_size,omitempty"`
}

// metadata answers a request for a part of the info dictionary. Nothing else is
// expected, since the node asks for none.
func (g *guest) metadata(b []byte) error {
	var m metadataMessage
	if err := bencode.NewDecoder(bytes.NewReader(b)).Decode(&m); err != nil {
		return protocolError("metadata message: %w", err)
	}
	number := g.said.Messages[pp.ExtensionNameMetadata]
	if m.Type != pp.RequestMetadataExtensionMsgType || number <= 0 || number > 255 {
		return nil
	}
	info := g.swarm.torrent.Info()
	answer, part := metadataMessage{Type: pp.RejectMetadataExtensionMsgType, Piece: m.Piece}, []byte(nil)
	if m.Piece >= 0 && m.Piece < (len(info)+chunk-1)/chunk {
		at := m.Piece * chunk
		part = info[at:min(at+chunk, len(info))]
		answer.Type, answer.Total = pp.DataMetadataExtensionMsgType, len(info)
	}
	g.tell(pp.Extended, append(append([]byte{byte(number)}, bencode.MustMarshal(answer)...), part...))
	return nil
}
