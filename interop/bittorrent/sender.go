package bittorrent

import (
	"context"
	"net"
	"sync"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// sender writes messages to one client. It collects those that are sent at the same time, and writes them with
// one call. Safe for concurrent use; only write blocks.
type sender struct {
	conn   net.Conn
	fast   bool                    // the client supports BEP 6
	cancel context.CancelCauseFunc // of the connection

	// ready holds a token when there is something to write.
	ready   chan struct{}
	writing sync.Mutex // held during a write, which must not mix with another

	mu  sync.Mutex
	buf []byte
}

func (s *sender) send(t pp.MessageType, payload []byte, fields ...uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.buf)+5+4*len(fields)+len(payload) > maxUnsent {
		s.cancel(errNotReading)
		return
	}
	s.buf = appendMessage(s.buf, t, payload, fields...)
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (s *sender) request(p proto.Span) { s.send(pp.Request, nil, p.Piece, p.Begin, p.Length) }

func (s *sender) withdraw(p proto.Span) { s.send(pp.Cancel, nil, p.Piece, p.Begin, p.Length) }

// reject rejects a request, if the client supports that.
func (s *sender) reject(p proto.Span) {
	if s.fast {
		s.send(pp.Reject, nil, p.Piece, p.Begin, p.Length)
	}
}

// take returns the queued messages, and uses spare for the next ones.
func (s *sender) take(spare []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buf
	s.buf = spare[:0]
	return b
}

func (s *sender) loop(ctx context.Context) error {
	keepAlive := time.NewTimer(keepAliveInterval)
	defer keepAlive.Stop()
	var buf []byte
	for {
		select {
		case <-s.ready:
			buf = s.take(buf)
		case <-keepAlive.C:
			buf = append(s.take(buf), 0, 0, 0, 0)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if len(buf) == 0 {
			continue
		}
		if err := s.write(buf); err != nil {
			return err
		}
		keepAlive.Reset(keepAliveInterval)
	}
}

func (s *sender) write(b []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := s.conn.Write(b)
	return err
}
