package proto

import "fmt"

// Type is the number of a message on the wire. Numbers are only appended.
type Type uint8

// The types of messages. A control stream carries Hello to Goodbye, and Permutation and
// later ones; a bulk stream carries BulkHello and then Blocks, CodedBlocks or GossipBlocks;
// manifest, torrent and tracker streams carry one request and one reply; a membership stream
// carries Credentials and lists of Revoked.
const (
	TypeHello           Type = 1
	TypeHave            Type = 2
	TypeWant            Type = 3
	TypeRequest         Type = 4
	TypeCancel          Type = 5
	TypeReject          Type = 6
	TypeBad             Type = 7
	TypeSteal           Type = 8
	TypeGive            Type = 9
	TypePing            Type = 10
	TypePong            Type = 11
	TypeMembers         Type = 12
	TypeGoodbye         Type = 13
	TypeBulkHello       Type = 14
	TypeBlock           Type = 15
	TypeManifestRequest Type = 16
	TypeManifestReply   Type = 17
	TypeAnnounce        Type = 18
	TypeAnnounceReply   Type = 19
	TypeScrapeRequest   Type = 20
	TypeScrape          Type = 21
	TypeCodedBlock      Type = 22
	TypeGossipBlock     Type = 23
	TypePermutation     Type = 24
	TypeDecoded         Type = 25
	TypeHolds           Type = 26
	TypeTaken           Type = 27
	// 28 is reserved: it was in use.
	TypeCredential Type = 29
	TypeRevoked    Type = 30
	TypeReceived   Type = 31
	TypeDemand     Type = 32

	TypeAnnounceURLsRequest Type = 33
	TypeAnnounceURLs        Type = 34
	TypeHostsRequest        Type = 35
	TypeHosts               Type = 36
	TypeMeasured            Type = 37
	TypeTopologyRequest     Type = 38
	TypeTopology            Type = 39
)

// Message is the content of one frame.
type Message interface {
	// Type returns the message's number on the wire.
	Type() Type
	// check reports the first limit that the message breaks.
	check() error
}

// Decode decodes the body of a message of type t. It does not keep body, except that the
// Data of a [Block], [CodedBlock] or [GossipBlock] is part of it. It fails on an unknown
// type, on a body that is not the deterministic encoding of such a message, and on a
// message that breaks a limit.
func Decode(t Type, body []byte) (Message, error) {
	m := newMessage(t)
	if m == nil {
		return nil, fmt.Errorf("message type %d is unknown", t)
	}
	if err := decodeBody(m, body); err != nil {
		return nil, fmt.Errorf("message type %d: %w", t, err)
	}
	return m, nil
}

func decodeBody(m Message, body []byte) error {
	if p, ok := m.(payloadMessage); ok {
		if err := p.decode(body); err != nil {
			return err
		}
		return m.check()
	}
	if err := decMode.Unmarshal(body, m); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	return checkCBOR(body, m)
}

// newMessage returns an empty message of type t, or nil if the type is unknown.
func newMessage(t Type) Message {
	switch t {
	case TypeHello:
		return new(Hello)
	case TypeHave:
		return new(Have)
	case TypeWant:
		return new(Want)
	case TypeRequest:
		return new(Request)
	case TypeCancel:
		return new(Cancel)
	case TypeReject:
		return new(Reject)
	case TypeBad:
		return new(Bad)
	case TypeSteal:
		return new(Steal)
	case TypeGive:
		return new(Give)
	case TypePing:
		return new(Ping)
	case TypePong:
		return new(Pong)
	case TypeMembers:
		return new(Members)
	case TypeGoodbye:
		return new(Goodbye)
	case TypeBulkHello:
		return new(BulkHello)
	case TypeBlock:
		return new(Block)
	case TypeManifestRequest:
		return new(ManifestRequest)
	case TypeManifestReply:
		return new(ManifestReply)
	case TypeAnnounce:
		return new(Announce)
	case TypeAnnounceReply:
		return new(AnnounceReply)
	case TypeScrapeRequest:
		return new(ScrapeRequest)
	case TypeScrape:
		return new(Scrape)
	case TypeCodedBlock:
		return new(CodedBlock)
	case TypeGossipBlock:
		return new(GossipBlock)
	case TypePermutation:
		return new(Permutation)
	case TypeDecoded:
		return new(Decoded)
	case TypeHolds:
		return new(Holds)
	case TypeTaken:
		return new(Taken)
	case TypeCredential:
		return new(Credential)
	case TypeRevoked:
		return new(Revoked)
	case TypeDemand:
		return new(Demand)
	case TypeAnnounceURLsRequest:
		return new(AnnounceURLsRequest)
	case TypeAnnounceURLs:
		return new(AnnounceURLs)
	case TypeHostsRequest:
		return new(HostsRequest)
	case TypeHosts:
		return new(Hosts)
	case TypeMeasured:
		return new(Measured)
	case TypeTopologyRequest:
		return new(TopologyRequest)
	case TypeTopology:
		return new(Topology)
	case TypeReceived:
		return new(Received)
	}
	return nil
}
