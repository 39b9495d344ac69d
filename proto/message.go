package proto

import (
	"fmt"
	"reflect"
)

// Type is the number of a message on the wire. Numbers are only appended.
type Type uint8

// The types of frames that have a fixed header instead of a message.
const (
	typeBlock       Type = 15
	typeCodedBlock  Type = 22
	typeGossipBlock Type = 23
	typeParcel      Type = 41
)

// messages contains the messages by their types. A control stream carries Hello to Goodbye, and Permutation and
// later ones; a bulk stream carries BulkHello and then blocks; manifest, torrent and tracker streams
// carry one request and one reply; a membership stream carries Credentials and lists of Revoked; the stream of a
// group carries GroupHello, parcels and ParcelTaken, and Ping, Pong and Goodbye.
//
//nolint:gochecknoglobals // a table
var messages = [...]Message{
	1:  (*Hello)(nil),
	2:  (*Have)(nil),
	3:  (*Want)(nil),
	4:  (*Request)(nil),
	5:  (*Cancel)(nil),
	6:  (*Reject)(nil),
	7:  (*Bad)(nil),
	8:  (*Steal)(nil),
	9:  (*Give)(nil),
	10: (*Ping)(nil),
	11: (*Pong)(nil),
	12: (*Members)(nil),
	13: (*Goodbye)(nil),
	14: (*BulkHello)(nil),
	16: (*ManifestRequest)(nil),
	17: (*ManifestReply)(nil),
	18: (*Announce)(nil),
	19: (*AnnounceReply)(nil),
	20: (*ScrapeRequest)(nil),
	21: (*Scrape)(nil),
	24: (*Permutation)(nil),
	25: (*Decoded)(nil),
	26: (*Holds)(nil),
	27: (*Taken)(nil),
	// 28 is reserved: it was in use.
	29: (*Credential)(nil),
	30: (*Revoked)(nil),
	31: (*Received)(nil),
	32: (*Demand)(nil),
	33: (*AnnounceURLsRequest)(nil),
	34: (*AnnounceURLs)(nil),
	35: (*HostsRequest)(nil),
	36: (*Hosts)(nil),
	37: (*Measured)(nil),
	38: (*TopologyRequest)(nil),
	39: (*Topology)(nil),
	40: (*GroupHello)(nil),
	42: (*ParcelTaken)(nil),
}

// types is the inverse of messages.
//
//nolint:gochecknoglobals // a table
var types = func() map[reflect.Type]Type {
	out := make(map[reflect.Type]Type, len(messages))
	for t, m := range messages {
		out[reflect.TypeOf(m)] = Type(t)
	}
	return out
}()

// Message is the content of one frame.
type Message interface {
	// check reports the first limit that the message breaks.
	check() error
}

// TypeOf returns the number of a message on the wire.
func TypeOf(m Message) Type { return types[reflect.TypeOf(m)] }

// Decode decodes the body of a message of type t. It does not keep body. It fails on a type
// that is unknown or whose frames have no CBOR body, on a body that is not the deterministic
// encoding of such a message, and on a message that breaks a limit.
func Decode(t Type, body []byte) (Message, error) {
	if int(t) >= len(messages) || messages[t] == nil {
		return nil, fmt.Errorf("message type %d is unknown", t)
	}
	m, _ := reflect.New(reflect.TypeOf(messages[t]).Elem()).Interface().(Message)
	err := DecodeCBOR(body, m)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, fmt.Errorf("message type %d: %w", t, err)
	}
	return m, nil
}
