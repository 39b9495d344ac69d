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

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

const (
	// handshakeTimeout bounds everything before the first message.
	handshakeTimeout = 10 * time.Second
	// acceptPause is the pause after a failed accept.
	acceptPause = 100 * time.Millisecond
)

// Server accepts and dials BitTorrent clients for the transfers of a node. Its methods
// may be called from any goroutine.
type Server struct {
	// Constant.
	cfg      Config
	listener net.Listener
	peerID   [20]byte
	ctx      context.Context // ends with the server
	cancel   context.CancelFunc
	limiter  limit.Bucket // of the upload
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	rule     *addrRule // of addresses that links and trackers name

	// Safe for concurrent use.
	handshakes *quota.Shared[netip.Addr] // of connections in their handshake
	clients    *quota.Shared[netip.Addr] // of connections after it
	wg         sync.WaitGroup

	mu       sync.Mutex // guards what follows
	managers map[proto.InfoHash]*connManager
}

// Listen starts a server. It accepts clients of the torrents that [Server.Attach] and
// [Server.Describe] run.
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
	s := &Server{
		cfg:        cfg,
		listener:   l,
		handshakes: quota.NewShared[netip.Addr](maxHandshakes),
		clients:    quota.NewShared[netip.Addr](maxClients),
		managers:   map[proto.InfoHash]*connManager{},
	}
	s.dial = cfg.Dial
	if s.dial == nil {
		s.dial, s.rule = new(net.Dialer).DialContext, &addrRule{localNets}
	}
	s.limiter.SetRate(limit.Rate(cfg.Upload))
	copy(s.peerID[:], "-MB0001-")
	_, _ = rand.Read(s.peerID[8:]) // never fails
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.acceptLoop)
	return s
}

// Addr returns the address that the server listens at.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

func (s *Server) port() int { return int(addrPort(s.listener.Addr()).Port()) }

// Close closes all connections and waits for them. Close the node first: its swarms then
// announce to the trackers that they stop.
func (s *Server) Close() error {
	s.cancel()
	err := s.listener.Close()
	s.wg.Wait()
	return err
}

// Problem returns the reason for finding no clients of a torrent, empty if there is nothing to report.
func (s *Server) Problem(hash proto.InfoHash) string {
	if m := s.manager(hash); m != nil {
		return m.problem()
	}
	return ""
}

func (s *Server) acceptLoop() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.cfg.Log.Warn("cannot accept BitTorrent clients", "error", err)
			time.Sleep(acceptPause) // likely out of file descriptors
			continue
		}
		if release, ok := s.handshakes.Take(quota.Host(remoteAddr(conn).Addr())); ok {
			s.wg.Go(func() { s.handle(conn, release) })
		} else {
			_ = conn.Close()
		}
	}
}

// handle runs an accepted connection, and calls shaken after its handshake.
func (s *Server) handle(conn net.Conn, shaken func()) {
	defer conn.Close()
	addr := remoteAddr(conn)
	p, m, err := s.acceptHandshake(conn)
	shaken()
	if err != nil {
		s.cfg.Log.Debug("handshake failed", "addr", addr, "error", err)
		return
	}
	_ = m.runConn(p) // it logs the error
}

var errUnknownTorrent = errors.New("unknown info-hash")

func (s *Server) acceptHandshake(conn net.Conn) (*remotePeer, *connManager, error) {
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	defer stop()
	p := &remotePeer{Conn: conn, addr: remoteAddr(conn)}
	start := make([]byte, len(pp.Protocol))
	if _, err := io.ReadFull(conn, start); err != nil {
		return nil, nil, err
	}
	r := io.MultiReader(bytes.NewReader(start), conn)
	if string(start) != pp.Protocol {
		stream, err := s.acceptMSE(conn, start)
		if err != nil {
			return nil, nil, err
		}
		p.Conn, r = stream, stream
	}
	if err := p.readUpToHash(r); err != nil {
		return nil, nil, err
	}
	m := s.manager(p.hash)
	if m == nil {
		return nil, nil, errUnknownTorrent
	}
	if _, err := p.Write(m.handshake().append(nil)); err != nil {
		return nil, nil, err
	}
	return p, m, p.readPeerID(p)
}

func (s *Server) manager(hash proto.InfoHash) *connManager {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.managers[hash]
}

func remoteAddr(conn net.Conn) netip.AddrPort { return addrPort(conn.RemoteAddr()) }

// addrPort returns the address of a TCP socket, invalid for another one.
func addrPort(a net.Addr) netip.AddrPort {
	addr, _ := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}
