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

// streaming is the [job] for a stream.
type streaming struct {
	start    *Start
	receiver *stream.Receiver
	output   func(line string)
	records  uint64       // number of the next record
	complete atomic.Bool  // the consumer has the whole stream
	writing  atomic.Int64 // start of the running Write in nanoseconds since 1970, or 0
}

// consumer writes the bytes of a stream, in order. After errNotRead, over returns the outcome.
type consumer interface {
	io.Writer
	// over returns a channel for the outcome of a consumer that may end before the stream, or nil.
	over() <-chan error
	// finish ends a complete stream, and blocks until the consumer has processed it. If ctx ends, it is killed.
	finish(ctx context.Context) error
	// kill ends an incomplete stream.
	kill()
}

// slowWrite bounds the time of a Write that is not reported as the reason for waiting.
const slowWrite = 2 * time.Second

// timedWriter records the start of the running Write.
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

// errNotRead is returned by Write if the command does not read any more.
var errNotRead = errors.New("the command does not read")

func newStreaming(n *peer.Node, s *Start, dir string, output func(line string)) (job, error) {
	key, err := crypto.UnmarshalPublicKey(s.Stream)
	if err != nil {
		return nil, err
	}
	peers, err := libpeer.AddrInfoToP2pAddrs(&s.Caster)
	if err != nil {
		return nil, err
	}
	r := stream.NewReceiver(stream.ReceiverConfig{Node: n, Key: key, Peers: peers, Spool: s.Spool, Dir: dir})
	return &streaming{start: s, receiver: r, output: output}, nil
}

// run implements [job]. When the consumer ends early, the receiver still serves the neighbors.
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
			s.complete.Store(true)
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
	p := Progress{Bytes: st.Bytes, Held: st.Held, Waiting: st.Waiting}
	began := s.writing.Load()
	slow := began != 0 && time.Since(time.Unix(0, began)) > slowWrite
	switch {
	case s.start.Exec == "" && slow:
		p.Waiting = "the disk"
	case slow:
		p.Waiting = "the command, which does not read"
	case s.complete.Load() && s.start.Exec != "":
		p.Waiting = "the command, which has its whole input"
	}
	return p
}

// handle handles a Record or a Release. An invalid one fails run.
func (s *streaming) handle(m *Message) {
	if m.Release != nil {
		_ = s.receiver.Release(*m.Release)
		return
	}
	if m.Number < s.records { // sent again by another login
		return
	}
	s.records = m.Number + 1
	_ = s.receiver.Add(m.Record)
}

// close implements [job].
func (s *streaming) close() error {
	s.receiver.Close()
	return nil
}
