package agent

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer"
)

// streaming is the job of a host that gets a stream.
type streaming struct {
	start    *Start
	receiver *stream.Receiver
	output   func(line string)
	whole    atomic.Bool  // the consumer has all of it
	writing  atomic.Int64 // when the last Write to it began, in nanoseconds since 1970, or 0
}

// consumer takes the bytes of a stream, in order. After an error of Write it takes no more: if that is
// errNotRead, over says what comes of it.
type consumer interface {
	io.Writer
	// over gets what came of a consumer that does not wait for the end of the stream. It may be nil.
	over() <-chan error
	// finish ends a stream that is whole, and blocks until its bytes are where they are to be. If ctx
	// ends before, it is as with kill.
	finish(ctx context.Context) error
	// kill ends a stream that is not, or whose consumer is over.
	kill()
}

// slowWrite is how long a Write may take until a host is said to wait for it.
const slowWrite = 2 * time.Second

// timedWriter notes when a Write began that is under way.
type timedWriter struct {
	io.Writer
	began *atomic.Int64
}

// Write implements [io.Writer].
func (w timedWriter) Write(b []byte) (int, error) {
	w.began.Store(time.Now().UnixNano())
	defer w.began.Store(0)
	return w.Writer.Write(b)
}

// errNotRead says that a command does not read what comes any more.
var errNotRead = errors.New("the command does not read")

func newStreaming(n *peer.Node, s *Start, dir string, out *reporter) (job, error) {
	key, err := crypto.UnmarshalPublicKey(s.Stream)
	if err != nil {
		return nil, err
	}
	caster, err := ParsePeer(s.Caster)
	if err != nil {
		return nil, err
	}
	peers, err := libpeer.AddrInfoToP2pAddrs(caster)
	if err != nil {
		return nil, err
	}
	r, err := stream.NewReceiver(stream.ReceiverConfig{
		Node:  n,
		Key:   key,
		Peers: peers,
		Spool: s.Spool,
		Dir:   dir,
	})
	if err != nil {
		return nil, err
	}
	return &streaming{start: s, receiver: r, output: out.output}, nil
}

// run implements [job]. When the consumer is over, the receiver goes on for the neighbours.
func (s *streaming) run(ctx context.Context) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() {
		_, err := s.receiver.Run(ctx, timedWriter{c, &s.writing})
		received <- err
	}()
	select {
	case err = <-received:
		if err == nil {
			s.whole.Store(true)
			return c.finish(ctx)
		}
		if errors.Is(err, errNotRead) {
			select {
			case err = <-c.over():
			case <-ctx.Done():
			}
		}
	case err = <-c.over():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.kill()
	return err
}

// open starts the consumer.
func (s *streaming) open() (consumer, error) {
	if s.start.Exec != "" {
		env := []string{"MOB_HOST=" + s.start.Host, "MOB_CLUSTER=" + s.start.Cluster}
		return startCommand(s.start.Exec, env, s.output)
	}
	return createTarget(s.start.Dest, s.start.Force)
}

// progress implements [job].
func (s *streaming) progress() Progress {
	st := s.receiver.Stats()
	p := Progress{Bytes: st.Bytes, Held: s.receiver.Held(), Waiting: st.Waiting}
	began := s.writing.Load()
	slow := began != 0 && time.Since(time.Unix(0, began)) > slowWrite
	switch {
	case s.start.Exec == "" && slow:
		p.Waiting = "the disk"
	case slow:
		p.Waiting = "the command, which does not read"
	case s.whole.Load() && s.start.Exec != "":
		p.Waiting = "the command, which has all of its input"
	}
	return p
}

// handle implements [job]. An invalid message fails run.
func (s *streaming) handle(m *Message) {
	if m.Release != nil {
		_ = s.receiver.Release(*m.Release)
		return
	}
	_ = s.receiver.Add(m.Record)
}

// close implements [job].
func (s *streaming) close() error {
	s.receiver.Close()
	return nil
}
