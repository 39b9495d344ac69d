package proto

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// GroupHello opens the stream between two members of a group. Both sides send one.
type GroupHello struct {
	_ struct{} `cbor:",toarray"`
	// Key is the key of the group, with the form of a content id.
	Key []byte
	// Cluster is the name of the sender's cluster.
	Cluster string
	// Addrs are the binary multiaddrs at which the sender accepts connections.
	Addrs [][]byte
}

func (m *GroupHello) check() error {
	return cmp.Or(checkKey(m.Key), CheckCluster(m.Cluster), checkAddrs(m.Addrs))
}

// ParcelTaken acknowledges a message of a group: its receiver has all parts.
type ParcelTaken struct {
	_      struct{} `cbor:",toarray"`
	Sender PeerID
	Number uint64
}

func (m *ParcelTaken) check() error { return checkPeerID(m.Sender) }

func checkPeerID(id PeerID) error { return checkSize("peer id", len(id), MaxPeerID) }

// MaxParcel bounds the payload of a [Parcel], in bytes.
const MaxParcel = 64 << 10

// MaxParcels bounds the parts of a message in a group.
const MaxParcels = 64

// ParcelRelay is the flag that asks the receiver to forward a [Parcel] to the other members of its cluster.
const ParcelRelay = 1 << 0

// ParcelDirect is set in the numbers of messages to one member. Messages to all members are counted separately.
const ParcelDirect = 1 << 63

// Parcel is a part of a message in a group. The body of its frame is not CBOR.
type Parcel struct {
	// Sender is the origin of the message, and Number counts its messages.
	Sender PeerID
	Number uint64
	// Part is the number of the part, below Parts.
	Part, Parts uint16
	Flags       uint8
	// Sum is the SHA-256 of the message.
	Sum     [sha256.Size]byte
	Payload []byte
	// Rest is sent after Payload. A parcel that was received has none.
	Rest []byte
}

// parcelFixed is the size in bytes of the fields of a parcel, without the peer id's bytes and the payload.
const parcelFixed = 1 + 8 + 2 + 2 + 1 + sha256.Size

func (m *Parcel) check() error {
	if err := checkPeerID(m.Sender); err != nil {
		return err
	}
	if m.Parts == 0 || m.Parts > MaxParcels || m.Part >= m.Parts {
		return fmt.Errorf("part %d of %d, at most %d", m.Part, m.Parts, MaxParcels)
	}
	if m.Flags&^ParcelRelay != 0 || m.Flags != 0 && m.Number&ParcelDirect != 0 {
		return fmt.Errorf("flags %#x of a parcel", m.Flags)
	}
	if n := len(m.Payload) + len(m.Rest); n > MaxParcel {
		return fmt.Errorf("parcel of %d bytes, at most %d", n, MaxParcel)
	}
	return nil
}

// AppendParcel appends the frame of a parcel, which is not checked.
func AppendParcel(dst []byte, m *Parcel) []byte {
	dst = appendFrameHeader(dst, typeParcel, parcelFixed+len(m.Sender)+len(m.Payload)+len(m.Rest))
	dst = append(dst, byte(len(m.Sender)))
	dst = append(dst, m.Sender...)
	dst = binary.BigEndian.AppendUint64(dst, m.Number)
	dst = binary.BigEndian.AppendUint16(dst, m.Part)
	dst = binary.BigEndian.AppendUint16(dst, m.Parts)
	dst = append(dst, m.Flags)
	dst = append(dst, m.Sum[:]...)
	return append(append(dst, m.Payload...), m.Rest...)
}

// decodeParcel decodes the body of a parcel's frame, and keeps it.
func decodeParcel(b []byte) (*Parcel, error) {
	if len(b) < parcelFixed || len(b) < parcelFixed+int(b[0]) {
		return nil, fmt.Errorf("parcel of %d bytes", len(b))
	}
	id, rest := b[1:1+b[0]], b[1+b[0]:]
	m := &Parcel{
		Sender:  PeerID(id),
		Number:  binary.BigEndian.Uint64(rest),
		Part:    binary.BigEndian.Uint16(rest[8:]),
		Parts:   binary.BigEndian.Uint16(rest[10:]),
		Flags:   rest[12],
		Sum:     [sha256.Size]byte(rest[13:]),
		Payload: rest[13+sha256.Size:],
	}
	return m, m.check()
}

// ReadGroup is [ReadMessage] for the stream between members of a group, which carries parcels too.
func ReadGroup(r io.Reader) (Message, error) {
	const most = 1 + parcelFixed + MaxPeerID + MaxParcel
	t, body, err := readFrame(r, most, most)
	if err != nil {
		return nil, err
	}
	if t == typeParcel {
		return decodeParcel(body)
	}
	return Decode(t, body)
}
