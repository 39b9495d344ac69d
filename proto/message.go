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

// Decode decodes the body of a message of type t. It does not keep body. It fails on a type
// that is unknown or whose frames have no CBOR body, on a body that is not the deterministic
// encoding of such a message, and on a message that breaks a limit.
func Decode(t Type, body []byte) (Message, error) {
	if int(t) >= len(constructors) || constructors[t] == nil {
		return nil, fmt.Errorf("message type %d is unknown", t)
	}
	m := constructors[t]()
	err := DecodeCBOR(body, m)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, fmt.Errorf("message type %d: %w", t, err)
	}
	return m, nil
}

// constructors contains, for each type of message, a function that returns an empty one.
//
//nolint:gochecknoglobals // a table
var constructors = [...]func() Message{
	TypeHello:               empty[Hello],
	TypeHave:                empty[Have],
	TypeWant:                empty[Want],
	TypeRequest:             empty[Request],
	TypeCancel:              empty[Cancel],
	TypeReject:              empty[Reject],
	TypeBad:                 empty[Bad],
	TypeSteal:               empty[Steal],
	TypeGive:                empty[Give],
	TypePing:                empty[Ping],
	TypePong:                empty[Pong],
	TypeMembers:             empty[Members],
	TypeGoodbye:             empty[Goodbye],
	TypeBulkHello:           empty[BulkHello],
	TypeManifestRequest:     empty[ManifestRequest],
	TypeManifestReply:       empty[ManifestReply],
	TypeAnnounce:            empty[Announce],
	TypeAnnounceReply:       empty[AnnounceReply],
	TypeScrapeRequest:       empty[ScrapeRequest],
	TypeScrape:              empty[Scrape],
	TypePermutation:         empty[Permutation],
	TypeDecoded:             empty[Decoded],
	TypeHolds:               empty[Holds],
	TypeTaken:               empty[Taken],
	TypeCredential:          empty[Credential],
	TypeRevoked:             empty[Revoked],
	TypeDemand:              empty[Demand],
	TypeAnnounceURLsRequest: empty[AnnounceURLsRequest],
	TypeAnnounceURLs:        empty[AnnounceURLs],
	TypeHostsRequest:        empty[HostsRequest],
	TypeHosts:               empty[Hosts],
	TypeMeasured:            empty[Measured],
	TypeTopologyRequest:     empty[TopologyRequest],
	TypeTopology:            empty[Topology],
	TypeReceived:            empty[Received],
}

func empty[T any, P interface {
	*T
	Message
}]() Message {
	return P(new(T))
}
