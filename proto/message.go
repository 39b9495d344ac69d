package proto

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Type numbers a message on the wire. Numbers are only ever appended.
type Type uint8

// The messages. Control: Hello to Members, and Goodbye. Bulk: BulkHello, then
// Blocks. Manifest and tracker streams carry one request and one reply.
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
)

// Message is what a frame carries.
type Message interface {
	// Type is the message's number on the wire.
	Type() Type
	// check reports the first limit that the message breaks.
	check() error
}

// The codec is fixed at build time and used read-only.
//
//nolint:gochecknoglobals // immutable modes, built once
var (
	encMode = must(cbor.EncOptions{Sort: cbor.SortCoreDeterministic, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, NilContainers: cbor.NilContainerAsEmpty}.EncMode())
	decMode = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxArrayElements: 1 << 21, MaxMapPairs: 64, MaxNestedLevels: 8,
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Decode reads the message of type t from body, which it does not keep. An
// unknown type, a body that is not that message's, and a message that breaks a
// limit are errors.
func Decode(t Type, body []byte) (Message, error) {
	if t == TypeBlock {
		return decodeBlock(body)
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
	}
	return nil
}
