package proto

import (
	"bytes"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Type numbers a message on the wire. Numbers are only ever appended.
type Type uint8

// The messages. Control: Hello to Members, and Goodbye. Bulk: BulkHello, then
// Blocks, CodedBlocks or GossipBlocks. Manifest and tracker streams carry one request and one reply.
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
	TypeHandout         Type = 19
	TypeFleetRequest    Type = 20
	TypeFleet           Type = 21
	TypeCodedBlock      Type = 22
	TypeGossipBlock     Type = 23
	TypePermutation     Type = 24
	TypeDecoded         Type = 25
	TypeHolds           Type = 26
	TypeTaken           Type = 27
	// 28 was in use, and is not given away again.
)

// Message is what a frame carries.
type Message interface {
	// Type is the message's number on the wire.
	Type() Type
	// check reports the first limit that the message breaks.
	check() error
}

// The codec is fixed at build time and used read-only. No list in a message is
// longer than [MaxRanges], so a frame of tiny elements cannot make a reader
// allocate much more than the frame.
//
//nolint:gochecknoglobals // immutable modes, built once
var (
	encMode = must(cbor.EncOptions{Sort: cbor.SortCoreDeterministic, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, NilContainers: cbor.NilContainerAsEmpty}.EncMode())
	decMode = must(cbor.DecOptions{
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxArrayElements: MaxRanges, MaxMapPairs: 16, MaxNestedLevels: 4,
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Decode reads the message of type t from body. It does not keep body, except
// that the Data of a [Block], [CodedBlock] or [GossipBlock] is part of it. An unknown type, a body that is not
// that message's, a body that is not the deterministic encoding of the message,
// and a message that breaks a limit are errors.
func Decode(t Type, body []byte) (Message, error) {
	switch t {
	case TypeBlock:
		return decodePayload(t, body, decodeBlock)
	case TypeCodedBlock:
		return decodePayload(t, body, decodeCoded)
	case TypeGossipBlock:
		return decodePayload(t, body, decodeGossip)
	}
	m := blank(t)
	if m == nil {
		return nil, fmt.Errorf("message type %d is unknown", t)
	}
	if err := decMode.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("message type %d: %w", t, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("message type %d: %w", t, err)
	}
	// The library takes long integers and null for a list or a number. One
	// message, one encoding: what is read here is what all others read.
	if again, err := encMode.Marshal(m); err != nil || !bytes.Equal(again, body) {
		return nil, fmt.Errorf("message type %d: not in its deterministic encoding", t)
	}
	return m, nil
}

// decodePayload decodes a message whose body is not CBOR.
func decodePayload[M Message](t Type, body []byte, decode func([]byte) (M, error)) (Message, error) {
	m, err := decode(body)
	if err != nil {
		return nil, fmt.Errorf("message type %d: %w", t, err)
	}
	return m, nil
}

// blank is an empty message of type t, nil for a type that is not known.
func blank(t Type) Message {
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
	case TypeManifestRequest:
		return new(ManifestRequest)
	case TypeManifestReply:
		return new(ManifestReply)
	case TypeAnnounce:
		return new(Announce)
	case TypeHandout:
		return new(Handout)
	case TypeFleetRequest:
		return new(FleetRequest)
	case TypeFleet:
		return new(Fleet)
	case TypePermutation:
		return new(Permutation)
	case TypeDecoded:
		return new(Decoded)
	case TypeHolds:
		return new(Holds)
	case TypeTaken:
		return new(Taken)
	}
	return nil
}
