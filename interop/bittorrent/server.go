package bittorrent

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/mobgrid/mob/proto"
)

// Server accepts guests, and goes to fetch them; and it asks clients what a torrent
// is. Its methods may be called from any
// goroutine.
type Server struct {
	// Constant.
	cfg      Config
	log      *slog.Logger
	listener net.Listener
	id       [20]byte
	ctx      context.Context // ends with the server
	cancel   context.CancelFunc
	limit    *rate.Limiter // nil for none

	// Safe for concurrent use.
	nearby    nearby
	strangers chan struct{} // a token for each connection without a handshake
	wg        sync.WaitGroup

	mu      sync.Mutex // guards what follows
	lobbies map[proto.InfoHash]*lobby
}

// Listen begins to accept guests, for the transfers that [Server.Attach] is called
// with.
func Listen(cfg Config) (*Server, error) {
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, err
	}
	return serve(cfg, l), nil
}

func serve(cfg Config, l net.Listener) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Dial == nil {
		cfg.Dial = new(net.Dialer).DialContext
	}
	s := &Server{cfg: cfg, log: cfg.Log, listener: l, limit: newLimit(cfg.Upload),
		strangers: make(chan struct{}, maxStrangers), lobbies: map[proto.InfoHash]*lobby{}}
	copy(s.id[:], "-MB0001-")
	_, _ = rand.Read(s.id[8:]) // never fails
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.accept)
	return s
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

func (s *Server) port() int {
	if a, ok := s.listener.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

// Close ends all connections and waits for that. It comes after the end of the node,
// whose swarms tell the trackers that they leave.
func (s *Server) Close() error {
	s.cancel()
	err := s.listener.Close()
	s.wg.Wait()
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.log.Warn("no guest can be accepted", "error", err)
			time.Sleep(acceptPause) // out of descriptors, likely
			continue
		}
		select {
		case s.strangers <- struct{}{}:
			s.wg.Go(func() { s.welcome(conn) })
		default:
			_ = conn.Close()
		}
	}
}

// acceptPause is how long nobody is accepted after that has failed.
const acceptPause = 100 * time.Millisecond

// welcome finds out what a connection is about, and carries it on.
func (s *Server) welcome(conn net.Conn) {
	defer conn.Close()
	at := remoteAddr(conn)
	line, l, theirs, err := s.answer(conn)
	<-s.strangers
	if err != nil {
		s.log.Debug("stranger left", "addr", at, "error", err)
		return
	}
	_ = l.welcome(line, at, theirs, false) // it has logged why
}

var errUnknownTorrent = errors.New("it asks for a torrent that is not here")

// answer exchanges handshakes over a connection that came, and returns it as it is to be
// used from then on.
func (s *Server) answer(conn net.Conn) (_ net.Conn, l *lobby, theirs handshake, err error) {
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	defer stop()
	began := make([]byte, len(protocolName))
	if _, err := io.ReadFull(conn, began); err != nil {
		return nil, nil, theirs, err
	}
	line, r := conn, io.MultiReader(bytes.NewReader(began), conn)
	if string(began) != protocolName {
		if line, err = s.unmask(conn, began); err != nil {
			return nil, nil, theirs, err
		}
		r = line
	}
	if err := theirs.readStart(r); err != nil {
		return nil, nil, theirs, err
	}
	s.mu.Lock()
	l = s.lobbies[theirs.hash]
	s.mu.Unlock()
	if l == nil {
		return nil, nil, theirs, errUnknownTorrent
	}
	if _, err := line.Write(l.handshake().append(nil)); err != nil {
		return nil, nil, theirs, err
	}
	return line, l, theirs, theirs.readID(line)
}

func remoteAddr(conn net.Conn) netip.AddrPort {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		at := a.AddrPort()
		return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	return netip.AddrPort{}
}
