package bittorrent

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/mobgrid/mob/proto"
)

// lobby is where the clients of one torrent are met: trackers tell of them, they are
// dialled, and they come. Its host talks to them.
type lobby struct {
	// Constant.
	server   *Server
	hash     proto.InfoHash
	trackers []string
	host     host
	log      *slog.Logger
	ctx      context.Context // ends with whoever wants clients, and with the server
	cancel   context.CancelCauseFunc

	contacts *contacts
	wg       sync.WaitGroup // connections, and who makes them

	mu     sync.Mutex        // guards what follows
	here   map[[20]byte]bool // clients by id, true when they were dialled
	banned map[netip.Addr]time.Time
	ended  bool
}

// host is who wants clients.
type host interface {
	// talk carries on the conversation with a client whose handshake has come, until
	// it ends, and returns why it did. The connection is the caller's to close. It is
	// called from a goroutine for each client.
	talk(conn net.Conn, at netip.AddrPort, theirs handshake, dialed bool) error
	// standing is what trackers are told. It may be called from any goroutine.
	standing() standing
	// whole is closed when nothing is missing any more, nil when that is not known.
	whole() <-chan struct{}
}

// standing is how far a node is, in bytes.
type standing struct{ left, downloaded, uploaded int64 }

// newLobby is a lobby that ends with ctx. It is opened by [Server.open].
func (s *Server) newLobby(ctx context.Context, hash proto.InfoHash, h host) *lobby {
	l := &lobby{server: s, hash: hash, host: h, log: s.log.With("torrent", hash.String()),
		contacts: newContacts(), here: map[[20]byte]bool{}, banned: map[netip.Addr]time.Time{}}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { l.cancel(net.ErrClosed) })
	context.AfterFunc(l.ctx, func() { stop() })
	return l
}

var errTaken = errors.New("there is another transfer with that info-hash")

// open meets the clients of a lobby until its end. There is one for each info-hash.
func (s *Server) open(l *lobby) error {
	s.mu.Lock()
	if s.lobbies[l.hash] != nil {
		s.mu.Unlock()
		return errTaken
	}
	s.lobbies[l.hash] = l
	s.mu.Unlock()
	l.run()
	s.mu.Lock()
	delete(s.lobbies, l.hash)
	s.mu.Unlock()
	l.wg.Wait()
	return nil
}

// run looks for clients until the lobby ends.
func (l *lobby) run() {
	var wg sync.WaitGroup
	for _, url := range l.trackers {
		wg.Go(func() { l.announce(url) })
	}
	wg.Go(l.dialContacts)
	<-l.ctx.Done()
	wg.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

func (l *lobby) handshake() *handshake {
	return &handshake{bits: extensions(), hash: l.hash, id: l.server.id}
}

// welcome carries on the conversation with a client whose handshake has come, until it
// ends, and returns why it did. The connection is the caller's to close.
func (l *lobby) welcome(conn net.Conn, at netip.AddrPort, theirs handshake, dialed bool) error {
	if !l.enter() {
		return context.Cause(l.ctx)
	}
	defer l.wg.Done()
	if theirs.id == l.server.id {
		return errSelf
	}
	_ = conn.SetDeadline(time.Time{})
	err := l.host.talk(conn, at, theirs, dialed)
	l.log.Debug("client left", "addr", at, "error", err)
	return err
}

// enter counts a connection, unless the lobby has ended.
func (l *lobby) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.wg.Add(1)
	return true
}

// banFor is how long an address is not let in that sent what is wrong.
const banFor = time.Hour

var errBanned = errors.New("it sent wrong data before")

// admit lets a client in, until forget, or says why it may not come in.
func (l *lobby) admit(id [20]byte, at netip.Addr, dialed bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := 0
	for _, d := range l.here {
		if d {
			all++
		}
	}
	_, here := l.here[id]
	switch {
	case here:
		return errTwice
	case len(l.here) >= maxGuests || dialed && all >= maxDialed:
		return errFull
	case time.Now().Before(l.banned[at]):
		return errBanned
	}
	l.here[id] = dialed
	return nil
}

func (l *lobby) forget(id [20]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.here, id)
}

// empty says that no client is here.
func (l *lobby) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.here) == 0
}

// ban keeps an address out for some time.
func (l *lobby) ban(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.banned) >= maxGuests {
		clear(l.banned)
	}
	l.banned[a] = time.Now().Add(banFor)
}
