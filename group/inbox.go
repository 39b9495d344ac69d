package group

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

const (
	// window bounds the bytes of one sender that are buffered, and the bytes that a sender has in flight.
	window = 4 << 20
	// overhead is what a buffered part is charged in addition to its payload, in bytes.
	overhead = 256
	// gapTimeout is the time after which a message that a sender cast while the session with it was interrupted is given
	// up, if later ones have arrived.
	gapTimeout = 45 * time.Second
)

// inbox puts parcels together, and messages in the order of their sender. The zero value is empty.
type inbox struct {
	sources map[proto.PeerID]*source
	ready   []arrival
}

// source is the state of a sender.
type source struct {
	next     uint64 // number of the next cast message, 0 if it is unknown
	started  bool   // next is final: a message was delivered, or the sender's GroupHello has arrived
	direct   uint64 // number of the last message to this node
	messages map[uint64]*assembly
	bytes    [2]int // buffered: of messages to all members, and of those to this node
	relayed  int    // bytes of parts that are queued for other members
}

// assembly is a message of which parts have arrived.
type assembly struct {
	sum     [sha256.Size]byte
	parts   [][]byte
	missing int
	cost    int
	bytes   []byte    // once it is complete
	since   time.Time // when it was
}

// arrival is a message that was not received yet.
type arrival struct {
	from  proto.PeerID
	bytes []byte
	kind  int // index in source.bytes
	cost  int
	left  bool
}

// verdict is what becomes of a parcel.
type verdict int

const (
	kept verdict = iota
	completed
	duplicate
	corrupt
)

func (in *inbox) of(id proto.PeerID) *source {
	s := in.sources[id]
	if s == nil {
		if in.sources == nil {
			in.sources = map[proto.PeerID]*source{}
		}
		s = &source{messages: map[uint64]*assembly{}}
		in.sources[id] = s
	}
	return s
}

// kindOf returns 1 for a number of messages to one member, else 0.
func kindOf(number uint64) int { return int(number >> 63) }

// full reports whether the parcel must wait until messages of its sender are received.
func (in *inbox) full(p *proto.Parcel) bool {
	s, kind := in.of(p.Sender), kindOf(p.Number)
	return s.bytes[kind] >= window || kind == 0 && s.relayed >= window
}

// has reports whether all parts of a message have arrived, or the message was given up.
func (in *inbox) has(p *proto.Parcel) bool {
	s := in.of(p.Sender)
	a := s.messages[p.Number]
	return a == nil && (kindOf(p.Number) == 1 || p.Number < s.next) || a != nil && a.missing == 0
}

// add adds a parcel.
func (in *inbox) add(p *proto.Parcel, now time.Time) verdict {
	s := in.of(p.Sender)
	direct := kindOf(p.Number) == 1
	switch {
	case direct && p.Number <= s.direct:
		return duplicate
	case !direct && (s.next == 0 || !s.started && p.Number < s.next):
		s.next = p.Number
	case !direct && p.Number < s.next:
		return duplicate
	}
	a := s.messages[p.Number]
	if a == nil {
		a = &assembly{sum: p.Sum, parts: make([][]byte, p.Parts), missing: int(p.Parts)}
		s.messages[p.Number] = a
	}
	switch {
	case a.missing == 0:
		return duplicate
	case a.sum != p.Sum || len(a.parts) != int(p.Parts):
		return corrupt
	case a.parts[p.Part] != nil:
		return duplicate
	}
	a.parts[p.Part] = slices.Clip(p.Payload)
	if a.parts[p.Part] == nil {
		a.parts[p.Part] = []byte{}
	}
	a.missing--
	a.cost += len(p.Payload) + overhead
	s.bytes[kindOf(p.Number)] += len(p.Payload) + overhead
	if a.missing > 0 {
		return kept
	}
	a.bytes = a.parts[0]
	if len(a.parts) > 1 {
		a.bytes = slices.Concat(a.parts...)
	}
	a.parts, a.since = a.parts[:0], now
	if len(a.bytes) > MaxMessage || sha256.Sum256(a.bytes) != a.sum {
		in.drop(s, p.Number)
		return corrupt
	}
	if !direct {
		in.deliver(p.Sender, s)
		return completed
	}
	s.direct = p.Number
	in.deliverOne(p.Sender, s, p.Number)
	for number := range s.messages {
		if kindOf(number) == 1 && number < s.direct {
			in.drop(s, number) // of an earlier stream: the sender did not send the rest again
		}
	}
	return completed
}

// deliver delivers the cast messages of a sender that are next.
func (in *inbox) deliver(id proto.PeerID, s *source) {
	for a := s.messages[s.next]; a != nil && a.missing == 0; a = s.messages[s.next] {
		in.deliverOne(id, s, s.next)
		s.started = true
		s.next++
	}
}

func (in *inbox) deliverOne(id proto.PeerID, s *source, number uint64) {
	a := s.messages[number]
	delete(s.messages, number)
	in.ready = append(in.ready, arrival{from: id, bytes: a.bytes, kind: kindOf(number), cost: a.cost})
}

func (in *inbox) drop(s *source, number uint64) {
	s.bytes[kindOf(number)] -= s.messages[number].cost
	delete(s.messages, number)
}

// begin notes the first parcel of a session: its number is the one of the last message that the sender has cast, and its payload
// the newest message of the user. Messages up to it that are not complete are given up.
func (in *inbox) begin(p *proto.Parcel) {
	id, number := p.Sender, p.Number
	s := in.of(id)
	s.started = true
	in.skip(id, s, max(s.next, number+1))
	if len(p.Payload) > 0 {
		in.ready = append(in.ready, arrival{from: id, bytes: p.Payload})
	}
}

// skip delivers what is complete before a number, and continues there.
func (in *inbox) skip(id proto.PeerID, s *source, next uint64) {
	var earlier []uint64
	for number := range s.messages {
		if kindOf(number) == 0 && number < next {
			earlier = append(earlier, number)
		}
	}
	slices.Sort(earlier)
	for _, number := range earlier {
		if s.messages[number].missing == 0 {
			in.deliverOne(id, s, number)
		} else {
			in.drop(s, number)
		}
	}
	s.next = next
	in.deliver(id, s)
}

// expire gives up messages for which later ones have waited for gapTimeout.
func (in *inbox) expire(now time.Time) {
	for id, s := range in.sources {
		next := s.next
		for number, a := range s.messages {
			if a.missing == 0 && now.Sub(a.since) >= gapTimeout {
				next = max(next, number)
			}
		}
		if next > s.next {
			in.skip(id, s, next)
		}
	}
}

// receive returns the next message.
func (in *inbox) receive() (a arrival, ok bool) {
	if len(in.ready) == 0 {
		return a, false
	}
	a = in.ready[0]
	in.ready[0] = arrival{}
	in.ready = in.ready[1:]
	in.of(a.from).bytes[a.kind] -= a.cost
	return a, true
}
