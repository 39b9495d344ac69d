package group

import (
	"crypto/sha256"
	"math"
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

const (
	// window bounds the bytes of one sender that are buffered, and the bytes that a sender has in flight.
	window = 4 << 20
	// maxHeld bounds the bytes of all senders that wait for parts, those that wait for the program, and those that are queued
	// for one member when another part is to be forwarded to it.
	maxHeld = 16 * window
	// overhead is the charge for a buffered part in addition to its payload, in bytes.
	overhead = 256
	// maxAhead bounds the messages of a sender that arrive before the start of its session, and that it has cast after that.
	maxAhead = window / overhead
	// gapTimeout bounds the time without a new part of an incomplete message, and the time for which it delays later ones. Then
	// it is given up.
	gapTimeout = 45 * time.Second
)

// inbox puts parcels together, and messages in the order of their sender. The zero value is empty.
type inbox struct {
	sources map[proto.PeerID]*source
	ready   []arrival
	waiting int // bytes of incomplete messages, and of messages behind a missing one
	unread  int // bytes of ready
}

// source is the state of a sender.
type source struct {
	session  bool
	next     uint64               // number of the next cast message, 0 if it is unknown
	started  bool                 // next is final: a message was delivered, or the first parcel of a session has arrived
	messages map[uint64]*assembly // to all members
	direct   [][]byte             // parts of a message to this node
	waiting  int                  // see inbox
	unread   int
	left     bool // its last arrival is the end of a session
}

// assembly is a message of which parts have arrived.
type assembly struct {
	sum      [sha256.Size]byte
	parts    int
	payloads [][]byte
	missing  int
	cost     int
	bytes    []byte    // once it is complete
	since    time.Time // when the last part arrived
}

// arrival is a message that was not received yet.
type arrival struct {
	from  proto.PeerID
	bytes []byte
	cost  int
	left  bool
}

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

// admits reports whether there is room for a sender. It forgets senders without a session of which nothing is buffered.
func (in *inbox) admits(id proto.PeerID) bool {
	if in.sources[id] == nil && len(in.sources) >= maxMembers {
		for id, s := range in.sources {
			if !s.session && !s.left && len(s.messages) == 0 && s.unread == 0 {
				delete(in.sources, id)
			}
		}
	}
	return in.sources[id] != nil || len(in.sources) < maxMembers
}

// full reports whether the parcel must wait until the program receives messages. It does not depend on messages that are
// incomplete: their parts may be on the same stream.
func (in *inbox) full(p *proto.Parcel) bool {
	return in.unread >= maxHeld || in.of(p.Sender).unread >= window
}

// addDirect adds a part of a message to this node, and reports whether it was the last one. Parts arrive in order, on the stream of the
// sender, which authenticates them: the hash is not checked. ok is false for a part that is not the next one, or of a
// message that is too long.
func (in *inbox) addDirect(p *proto.Parcel) (done, ok bool) {
	s := in.of(p.Sender)
	if p.Part == 0 {
		s.direct = nil // the rest of the earlier one is not sent
	}
	size := len(p.Payload)
	for _, part := range s.direct {
		size += len(part)
	}
	if int(p.Part) != len(s.direct) || size > MaxMessage {
		return false, false
	}
	if s.direct = append(s.direct, p.Payload); len(s.direct) < int(p.Parts) {
		return false, true
	}
	b := p.Payload
	if len(s.direct) > 1 {
		b = slices.Concat(s.direct...)
	}
	s.direct = nil
	in.push(arrival{from: p.Sender, bytes: b, cost: len(b) + overhead})
	return true, true
}

// add adds a part of a message to all members. It returns the numbers of messages to acknowledge, and false for a part of a
// corrupt message. Messages are acknowledged in order, so that the sender's window bounds what waits for one.
func (in *inbox) add(p *proto.Parcel, now time.Time) (taken []uint64, ok bool) {
	s := in.of(p.Sender)
	if s.next == 0 || !s.started && p.Number < s.next {
		s.next = p.Number
	}
	if p.Number < s.next {
		return []uint64{p.Number}, true // the first acknowledgment may have been lost
	}
	a := s.messages[p.Number]
	if a != nil && a.missing > 0 && (a.sum != p.Sum || a.parts != int(p.Parts)) {
		in.drop(s, p.Number) // one of the two is false
		a = nil
	}
	if a == nil {
		if in.waiting >= maxHeld {
			return nil, true
		}
		a = &assembly{sum: p.Sum, parts: int(p.Parts), payloads: make([][]byte, p.Parts), missing: int(p.Parts)}
		s.messages[p.Number] = a
		in.charge(s, p.Number, a.parts*overhead)
	}
	if a.missing == 0 || a.payloads[p.Part] != nil {
		return nil, true
	}
	a.payloads[p.Part] = slices.Clip(p.Payload)
	if a.payloads[p.Part] == nil {
		a.payloads[p.Part] = []byte{}
	}
	a.missing--
	a.since = now
	in.charge(s, p.Number, len(p.Payload))
	if a.missing == 0 {
		a.bytes = a.payloads[0]
		if a.parts > 1 {
			a.bytes = slices.Concat(a.payloads...)
		}
		a.payloads = nil
	}
	if a.cost-a.parts*overhead > MaxMessage || a.missing == 0 && sha256.Sum256(a.bytes) != a.sum {
		in.drop(s, p.Number)
		return nil, false
	}
	taken = in.deliver(p.Sender, s)
	if s.waiting > window { // the sender does not wait for this node's acknowledgments
		next := s.next
		for number := range s.messages {
			next = max(next, number+1)
		}
		taken = append(taken, in.skip(p.Sender, s, next)...)
	}
	return taken, true
}

// deliver delivers the cast messages of a sender that are next, and returns their numbers. It waits for the first parcel of a
// session.
func (in *inbox) deliver(id proto.PeerID, s *source) (numbers []uint64) {
	if s.session && !s.started {
		return nil
	}
	for a := s.messages[s.next]; a != nil && a.missing == 0; a = s.messages[s.next] {
		in.deliverOne(id, s, s.next)
		numbers = append(numbers, s.next)
		s.started = true
		s.next++
	}
	return numbers
}

func (in *inbox) deliverOne(id proto.PeerID, s *source, number uint64) {
	a := s.messages[number]
	in.drop(s, number)
	in.push(arrival{from: id, bytes: a.bytes, cost: a.cost})
}

// push adds to what the program has not received.
func (in *inbox) push(a arrival) {
	s := in.of(a.from)
	if a.left && s.left {
		return
	}
	s.left = a.left
	s.unread += a.cost
	in.unread += a.cost
	in.ready = append(in.ready, a)
}

func (in *inbox) charge(s *source, number uint64, n int) {
	s.messages[number].cost += n
	s.waiting += n
	in.waiting += n
}

func (in *inbox) drop(s *source, number uint64) {
	s.waiting -= s.messages[number].cost
	in.waiting -= s.messages[number].cost
	delete(s.messages, number)
}

// first records the first parcel of a session: its number is the one of the last message that the sender has cast, and its payload
// the newest message of the user. Messages up to it that are not complete are given up. It returns the numbers of messages to acknowledge.
func (in *inbox) first(p *proto.Parcel) (taken []uint64) {
	s := in.of(p.Sender)
	next := p.Number + 1
	switch {
	case p.Number+maxAhead < s.next: // the sender was restarted after its clock was set back: its numbers start with the clock
		for number := range s.messages {
			in.drop(s, number)
		}
	case s.started: // otherwise later messages may have come first, by relays
		next = max(next, s.next)
	}
	s.started = true
	if len(p.Payload) > 0 {
		in.push(arrival{from: p.Sender, bytes: p.Payload, cost: len(p.Payload) + overhead})
	}
	return in.skip(p.Sender, s, next)
}

// leave records the end of the session with a sender.
func (in *inbox) leave(id proto.PeerID) {
	s := in.of(id)
	s.session = false
	s.direct = nil
	in.push(arrival{from: id, left: true})
}

// skip delivers what is complete before a number, and continues there. It returns the numbers of what it delivers.
func (in *inbox) skip(id proto.PeerID, s *source, next uint64) (numbers []uint64) {
	var earlier []uint64
	for number := range s.messages {
		if number < next {
			earlier = append(earlier, number)
		}
	}
	slices.Sort(earlier)
	for _, number := range earlier {
		if s.messages[number].missing == 0 {
			in.deliverOne(id, s, number)
			numbers = append(numbers, number)
		} else {
			in.drop(s, number)
		}
	}
	s.next = next
	return append(numbers, in.deliver(id, s)...)
}

// expire gives up messages after gapTimeout. After the restart of a sender it does not wait for earlier messages: numbers start with the
// clock.
func (in *inbox) expire(now time.Time) {
	for id, s := range in.sources {
		next, least := s.next, uint64(math.MaxUint64)
		for number, a := range s.messages {
			least = min(least, number)
			switch {
			case now.Sub(a.since) < gapTimeout:
			case a.missing == 0:
				next = max(next, number+1)
			default:
				in.drop(s, number)
			}
		}
		if !s.session && len(s.messages) > 0 && least > s.next+maxAhead {
			next = max(next, least)
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
	s := in.of(a.from)
	s.unread -= a.cost
	in.unread -= a.cost
	s.left = s.left && !a.left
	return a, true
}
