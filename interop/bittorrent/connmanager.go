package bittorrent

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

const (
	// maxDials bounds the dials at a time.
	maxDials = 8
	// dialTimeout bounds one dial.
	dialTimeout = 8 * time.Second
	// banFor is the duration of a ban.
	banFor = time.Hour
)

// connManager manages the connections to the clients of one torrent: it announces the
// node to trackers, dials the addresses that these return, and takes the connections
// that the server accepts. Its handler runs them.
type connManager struct {
	// Constant.
	server   *Server
	hash     proto.InfoHash
	trackers []string
	named    []string // trackers that users of this node named
	handler
	log    *slog.Logger
	ctx    context.Context // ends with the swarm or the call, and with the server
	cancel context.CancelCauseFunc
	free   chan struct{} // closed once another connManager may run for the hash

	addrs *addrList
	wg    sync.WaitGroup // connections and dials

	mu     sync.Mutex               // guards what follows
	conns  map[[20]byte]bool        // by peer id, true if dialed
	shares *quota.Quota[netip.Addr] // of maxConns
	banned map[netip.Addr]time.Time
	failed map[string]error // by tracker or peer, the last error
	closed bool
}

// handler has the functions that run the connections of a torrent.
type handler struct {
	// handle runs a connection after the handshakes, until it ends, and returns the reason.
	// The caller closes it. Each connection has a separate goroutine.
	handle func(*remotePeer) error
	// progress returns the progress to announce. It may be called from any goroutine.
	progress func() progress
	// complete is closed when the download is complete, nil if it never is.
	complete <-chan struct{}
}

// progress is the progress of a download, in bytes.
type progress struct{ left, downloaded, uploaded int64 }

// newConnManager returns a connManager that runs until ctx ends. [Server.run] runs it. The log must not contain
// the info-hash, since anyone who knows it can fetch the content.
func (s *Server) newConnManager(ctx context.Context, hash proto.InfoHash, h handler, log *slog.Logger) *connManager {
	m := &connManager{
		server:  s,
		hash:    hash,
		handler: h,
		log:     log,
		free:    make(chan struct{}),
		addrs:   newAddrList(),
		conns:   map[[20]byte]bool{},
		shares:  quota.New[netip.Addr](maxConns),
		banned:  map[netip.Addr]time.Time{},
		failed:  map[string]error{},
	}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { m.cancel(net.ErrClosed) })
	context.AfterFunc(m.ctx, func() { stop() })
	return m
}

// run announces and dials until the context of m ends, and waits for its connections. One connManager runs for each
// info-hash, so it first waits for the end of another: the search for an info dictionary, which ends sooner than a transfer.
func (s *Server) run(m *connManager) {
	for other := s.enter(m); other != m; other = s.enter(m) {
		select {
		case <-other.free:
		case <-m.ctx.Done():
			return
		}
	}
	var wg sync.WaitGroup
	for _, url := range m.trackers {
		wg.Go(func() { m.announce(url) })
	}
	wg.Go(m.dialLoop)
	<-m.ctx.Done()
	wg.Wait()
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	s.mu.Lock()
	delete(s.managers, m.hash)
	s.mu.Unlock()
	close(m.free)
	m.wg.Wait()
}

// enter returns the connManager that runs for an info-hash: m, unless there is another.
func (s *Server) enter(m *connManager) *connManager {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.managers[m.hash] == nil {
		s.managers[m.hash] = m
	}
	return s.managers[m.hash]
}

func (m *connManager) addLinked(addrs []netip.AddrPort) {
	m.addrs.add("", slices.DeleteFunc(slices.Clone(addrs), func(a netip.AddrPort) bool {
		err := m.server.rule.check(a.Addr(), netip.Addr{}, "")
		if err != nil {
			m.fail("client "+a.String(), err)
		}
		return err != nil
	}))
}

func (m *connManager) dialLoop() {
	slots := make(chan struct{}, maxDials)
	for {
		addr, wait, ok := m.addrs.next(time.Now())
		if !ok {
			select {
			case <-m.addrs.changed:
			case <-time.After(wait):
			case <-m.ctx.Done():
				return
			}
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-m.ctx.Done():
			return
		}
		if !m.enter() {
			return
		}
		go func() {
			defer m.wg.Done()
			start := time.Now()
			err := m.dial(addr, func() { <-slots })
			m.log.Debug("dialed connection ended", "addr", addr, "error", err)
			m.addrs.release(addr, time.Now(), time.Since(start), err)
		}()
	}
}

// dial connects to a client and runs the connection. It calls dialed when the dial has
// ended.
func (m *connManager) dial(addr netip.AddrPort, dialed func()) error {
	ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
	defer cancel()
	conn, err := m.server.dial(ctx, "tcp", addr.String())
	dialed()
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(m.ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	remote, err := exchangeHandshakes(conn, *m.handshake())
	if err != nil {
		return err
	}
	return m.runConn(&remotePeer{Conn: conn, handshake: remote, addr: addr, dialed: true})
}

func (m *connManager) handshake() *handshake {
	return &handshake{extensions: extensions(), hash: m.hash, peerID: m.server.peerID}
}

// runConn runs a connection after the handshakes, until it ends, and returns the reason.
// The caller closes it.
func (m *connManager) runConn(p *remotePeer) error {
	if !m.enter() {
		return context.Cause(m.ctx)
	}
	defer m.wg.Done()
	if p.peerID == m.server.peerID {
		return errSelf
	}
	if err := m.add(p); err != nil {
		return err
	}
	defer m.remove(p)
	_ = p.SetDeadline(time.Time{})
	err := m.handle(p)
	m.log.Debug("client disconnected", "addr", p.addr, "error", err)
	return err
}

// enter adds a connection to wg, unless m is closed.
func (m *connManager) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.wg.Add(1)
	return true
}

// add admits a client until remove, or returns the reason for rejecting it.
func (m *connManager) add(p *remotePeer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	allDialed := 0
	for _, d := range m.conns {
		if d {
			allDialed++
		}
	}
	_, connected := m.conns[p.peerID]
	switch {
	case connected:
		return errDuplicate
	case time.Now().Before(m.banned[p.addr.Addr()]):
		return errBanned
	case p.dialed && allDialed >= maxDialed || !m.shares.Take(quota.Host(p.addr.Addr())):
		return errFull
	}
	var ok bool
	if p.release, ok = m.server.clients.Take(quota.Host(p.addr.Addr())); !ok {
		m.shares.Release(quota.Host(p.addr.Addr()))
		return errFull
	}
	m.conns[p.peerID] = p.dialed
	return nil
}

func (m *connManager) remove(p *remotePeer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conns, p.peerID)
	m.shares.Release(quota.Host(p.addr.Addr()))
	p.release()
}

// fail records the last error of a tracker or a client, nil for none.
func (m *connManager) fail(of string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		delete(m.failed, of)
		return
	}
	m.failed[of] = err
}

// problem returns the reason for finding no clients, empty if there is nothing to report.
func (m *connManager) problem() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.conns) > 0 || len(m.failed) == 0 {
		return ""
	}
	first := slices.Min(slices.Collect(maps.Keys(m.failed)))
	text := fmt.Sprintf("BitTorrent %s: %v", first, m.failed[first])
	if more := len(m.failed) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func (m *connManager) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.conns) == 0
}

func (m *connManager) ban(a netip.Addr) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.banned) >= maxConns {
		clear(m.banned)
	}
	m.banned[a] = time.Now().Add(banFor)
}
