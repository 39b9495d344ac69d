package collective

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// kind is the type of a frame.
type kind uint8

const (
	kindJoin   kind = iota // data: size of the group; run is a number of the call of Join
	kindFull               // data: why the member cannot join
	kindRoster             // data: the roster
	kindAccept             // the member has the roster
	kindStart              // all members have it
	kindAbort              // data: why the run ends; index is the rank of a lost member
	kindLeave              // the member completed all operations up to op
	kindProbe              // the member is in the operation

	kindPart    // a value of a member, for the owner of the unit in its cluster
	kindCluster // a merged value of a cluster, for a member that merges these
	kindFinal   // a merged value
	kindValue   // a value of a broadcast or a gather
	kindLink    // a link to a longer value
	kindFetched // the link is not needed any more
)

// call is the operation that a member calls. All members call the same.
type call struct {
	Name opName
	Root uint16
	Elem uint32
	Size uint32 // of the vectors, 0 if values may differ in their lengths
}

// opName is the number of a method of [Comm].
type opName uint8

const (
	opBroadcast opName = iota
	opGather
	opReduce
	opAllReduce
	opShuffle
)

func (c call) String() string {
	name := "an unknown operation"
	if names := []string{"Broadcast", "Gather", "Reduce", "AllReduce", "Shuffle"}; int(c.Name) < len(names) {
		name = names[c.Name]
	}
	return fmt.Sprintf("%s with root %d, elements of %d and vectors of %d bytes", name, c.Root, c.Elem, c.Size)
}

// header precedes the data in a message of the group.
type header struct {
	Kind  kind
	Run   uint64
	Op    uint32 // number of the operation
	Call  call
	Index uint32 // of a unit
	// A value longer than a message comes in several: Total is its length, and the data starts at Offset.
	Total, Offset uint32
}

const (
	headerSize = 36
	// maxData is the most data in a message: it fills a parcel.
	maxData = 64<<10 - headerSize
)

// frame is a message, or a value that was put together.
type frame struct {
	header
	from int // rank
	data []byte
}

func (h *header) append(data []byte) []byte {
	b, _ := binary.Append(make([]byte, 0, headerSize+len(data)), binary.BigEndian, h) // all its fields have a size
	return append(b, data...)
}

var errFrame = errors.New("invalid message")

func parse(b []byte) (f frame, err error) {
	n, err := binary.Decode(b, binary.BigEndian, &f.header)
	if err != nil {
		return f, errFrame
	}
	f.data = b[n:]
	if f.Total > MaxValue || uint64(f.Offset)+uint64(len(f.data)) > uint64(f.Total) {
		return f, errFrame
	}
	return f, nil
}
