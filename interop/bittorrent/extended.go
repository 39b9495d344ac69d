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

// introduction is the extended handshake for a client at an address. metadata is the
// length of the info dictionary, 0 while it is not here, and mob the node's id, empty
// when it does not say that it is one.
func (s *Server) introduction(to netip.AddrPort, metadata int, mob string) []byte {
	b := bencode.MustMarshal(extended{
		Messages: map[string]int64{pp.ExtensionNameMetadata: ownMetadata},
		Client:   s.cfg.Client, Port: s.port(), Reqq: ownQueue, Metadata: metadata,
		YourIP: to.Addr().AsSlice(), Mob: mob,
	})
	return append([]byte{pp.HandshakeExtendedID}, b...)
}

// readIntroduction decodes what a client says of itself.
func readIntroduction(b []byte) (said extended, err error) {
	if err := bencode.NewDecoder(bytes.NewReader(b)).Decode(&said); err != nil {
		return said, protocolError("extended handshake: %w", err)
	}
	return said, nil
}

// extended does what an extended message says.
func (g *guest) extended(b []byte) error {
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
	said, err := readIntroduction(b)
	if err != nil {
		return err
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

// readMetadata decodes a message of BEP 9, and returns what follows its head.
func readMetadata(b []byte) (m metadataMessage, part []byte, err error) {
	r := bytes.NewReader(b)
	if err := bencode.NewDecoder(r).Decode(&m); err != nil {
		return m, nil, protocolError("metadata message: %w", err)
	}
	return m, b[len(b)-r.Len():], nil
}

// metadataParts is how many messages it takes to send so many bytes.
func metadataParts(size int) int { return (size + chunk - 1) / chunk }

// metadata answers a request for a part of the info dictionary. Nothing else is
// expected, since a guest is asked for none.
func (g *guest) metadata(b []byte) error {
	m, _, err := readMetadata(b)
	if err != nil {
		return err
	}
	number := g.said.Messages[pp.ExtensionNameMetadata]
	if m.Type != pp.RequestMetadataExtensionMsgType || number <= 0 || number > 255 {
		return nil
	}
	info := g.swarm.torrent.Info()
	answer, part := metadataMessage{Type: pp.RejectMetadataExtensionMsgType, Piece: m.Piece}, []byte(nil)
	if m.Piece >= 0 && m.Piece < metadataParts(len(info)) {
		at := m.Piece * chunk
		part = info[at:min(at+chunk, len(info))]
		answer.Type, answer.Total = pp.DataMetadataExtensionMsgType, len(info)
	}
	g.tell(pp.Extended, append(append([]byte{byte(number)}, bencode.MustMarshal(answer)...), part...))
	return nil
}
