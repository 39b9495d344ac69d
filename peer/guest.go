package peer

import (
	"context"
	"errors"
	"fmt"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/exchange"
	"github.com/mobgrid/mob/peer/requests"
	"github.com/mobgrid/mob/proto"
)

// Guest is the connection of a peer that is no node and speaks another protocol,
// behind whoever translates. To the swarm it is a peer in a cluster of its own.
type Guest interface {
	// Hear takes a message from the swarm. It is called by one goroutine, and must
	// not block.
	Hear(m proto.Message)
	// Close ends the connection, from any goroutine, and does not wait. Closing again
	// does nothing.
	Close(code proto.Code, why string)
}

// Buffer holds a block.
type Buffer = exchange.Buffer

// Visit says who a guest is.
type Visit struct {
	// ID tells guests apart, and is no node's.
	ID proto.PeerID
	// Cluster is the guest's own, and how it is called.
	Cluster string
	// Client is the program that it runs, empty when it does not say.
	Client string
	// Near says that its bytes are counted as the LAN's.
	Near bool
}

// Seat is a guest's place in a swarm. Its methods may be called from any goroutine.
type Seat struct {
	swarm *swarm
	sess  *session // after Join
	guest Guest
}

// Beside is run beside every swarm, in a goroutine of its own, until it returns or
// ctx ends with the swarm, and it must return then. It is how guests come in.
type Beside func(ctx context.Context, t *Transfer)

// Seat is a place for a guest in the transfer's swarm. It fails when no swarm runs.
func (t *Transfer) Seat() (*Seat, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.swarm == nil {
		return nil, fmt.Errorf("no transfer of %s runs", t.ID)
	}
	if t.mu.swarm.form.Coding.Coded() {
		return nil, errors.New("a coded transfer takes no guests")
	}
	return &Seat{swarm: t.mu.swarm}, nil
}

// Join makes the guest a peer: it hears from the swarm from then on, until it is
// closed, and [Seat.Leave] must be called in the end. It is called once.
func (s *Seat) Join(v Visit, g Guest) {
	s.guest = g
	s.sess = &session{
		swarm: s.swarm, node: mob.Node{ID: v.ID, Cluster: v.Cluster, Guest: true}, name: v.Cluster, client: v.Client,
		local: v.Near, dialer: v.ID, asked: requests.NewAsked(), line: (*guestLine)(s),
	}
	s.swarm.post(input{joined: true, sess: s.sess})
}

// Leave says that the guest's connection has ended, and why. What it owed goes to
// others.
func (s *Seat) Leave(err error) { s.sess.ended(err) }

// Say hands a message of the guest to the swarm. It blocks while that is behind.
// Requests are not for the swarm: whoever translates honours them.
func (s *Seat) Say(m proto.Message) { s.sess.received(m) }

// Has reports whether a piece is stored, verified and served.
func (s *Seat) Has(piece uint32) bool { return s.swarm.st.Has(int(piece)) }

// Pieces is how many pieces the content has, and Size the bytes of one.
func (s *Seat) Pieces() int { return s.swarm.m.Pieces() }

// Size is the length of a piece in bytes.
func (s *Seat) Size(piece uint32) int { return s.swarm.m.PieceSize(int(piece)) }

// Read reads a part of a piece that is there, all of it or none. When that fails the
// piece is checked.
func (s *Seat) Read(b []byte, piece, begin uint32) error {
	_, err := s.swarm.st.ReadAt(b, s.swarm.m.PieceOffset(int(piece))+int64(begin))
	if err != nil {
		s.swarm.log.Error("piece cannot be read", "piece", piece, "error", err)
		s.swarm.complain(exchange.Complaint{Peer: s.sess, Piece: piece, Number: piece})
	}
	return err
}

// Sent counts bytes of payload that went to the guest.
func (s *Seat) Sent(n int) { s.swarm.count.Sent(s.sess.local, n) }

// Wasted counts bytes of payload that came from the guest and were of no use.
func (s *Seat) Wasted(n int) {
	s.swarm.count.Received(s.sess.local, n)
	s.swarm.count.Duplicate(n)
}

// Buffer is room for a span of n bytes, which goes back by [Seat.Store] or
// [Seat.Release].
func (s *Seat) Buffer(n int) *Buffer { return exchange.Get(n) }

// Release gives a buffer back.
func (s *Seat) Release(b *Buffer) { exchange.Put(b) }

// Store takes in a span that the swarm asked the guest for. It blocks while hashing
// is behind. One that was taken back meanwhile is dropped.
func (s *Seat) Store(sp proto.Span, b *Buffer) {
	if wanted, _ := s.sess.asked.Take(sp); wanted {
		s.sess.store(exchange.Arrival{From: s.sess, Span: sp, Buf: b})
		return
	}
	s.Wasted(len(b.B))
	exchange.Put(b)
}

// guestLine is a Seat as its session sees it.
type guestLine Seat

func (l *guestLine) start() {}

func (l *guestLine) send(m proto.Message) { l.guest.Hear(m) }

func (l *guestLine) refuse(code proto.Code, why string) { l.guest.Close(code, why) }

func (l *guestLine) dismiss(code proto.Code, why string) { l.guest.Close(code, why) }

func (l *guestLine) close() { l.guest.Close(proto.CodeLeaving, "the transfer has ended") }
