package bittorrent

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/mobgrid/mob/peer"
)

// swarm is one transfer with its guests.
type swarm struct {
	// Constant.
	server   *Server
	transfer *peer.Transfer
	torrent  *Torrent
	log      *slog.Logger
	ctx      context.Context // ends with the transfer's swarm, and with the server

	contacts *contacts
	wg       sync.WaitGroup // connections, and who makes them

	mu     sync.Mutex // guards what follows
	guests map[[20]byte]*guest
	banned map[netip.Addr]time.Time
	ended  bool
}

func newSwarm(ctx context.Context, s *Server, t *peer.Transfer, torrent *Torrent) *swarm {
	sw := &swarm{server: s, transfer: t, torrent: torrent, log: s.log.With("torrent", torrent.Hash.String()),
		contacts: newContacts(), guests: map[[20]byte]*guest{}, banned: map[netip.Addr]time.Time{}}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.ctx, cancel)
	sw.ctx = ctx
	return sw
}

// run looks for guests until the swarm ends.
func (s *swarm) run() {
	s.contacts.add(s.torrent.Peers)
	var wg sync.WaitGroup
	for _, url := range s.torrent.Trackers {
		wg.Go(func() { s.announce(url) })
	}
	wg.Go(s.dialContacts)
	<-s.ctx.Done()
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *swarm) handshake() *handshake {
	return &handshake{bits: extensions(), hash: s.torrent.Hash, id: s.server.id}
}

// host carries on the conversation with a client whose handshake has come, until it
// ends, and returns why it did. The connection is the caller's to close.
func (s *swarm) host(conn net.Conn, at netip.AddrPort, theirs handshake, dialed bool) error {
	if !s.enter() {
		return context.Cause(s.ctx)
	}
	defer s.wg.Done()
	if theirs.id == s.server.id {
		return errSelf
	}
	g, err := s.newGuest(conn, at, theirs, dialed)
	if err != nil {
		return err
	}
	_ = conn.SetDeadline(time.Time{})
	err = g.run()
	s.forget(g)
	s.log.Debug("guest left", "addr", at, "error", err)
	return err
}

// enter counts a connection, unless the swarm has ended.
func (s *swarm) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.wg.Add(1)
	return true
}

// banFor is how long an address is not let in that sent bad pieces.
const banFor = time.Hour

var errBanned = errors.New("it sent bad pieces before")

// admit lets a guest in, or says why it may not come in.
func (s *swarm) admit(g *guest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dialed := 0
	for _, other := range s.guests {
		if other.dialed {
			dialed++
		}
	}
	switch {
	case s.guests[g.theirs.id] != nil:
		return errTwice
	case len(s.guests) >= maxGuests || g.dialed && dialed >= maxDialed:
		return errFull
	case time.Now().Before(s.banned[g.at.Addr()]):
		return errBanned
	}
	s.guests[g.theirs.id] = g
	return nil
}

func (s *swarm) forget(g *guest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guests[g.theirs.id] == g {
		delete(s.guests, g.theirs.id)
	}
}

// ban keeps an address out for some time.
func (s *swarm) ban(a netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.banned) >= maxGuests {
		clear(s.banned)
	}
	s.banned[a] = time.Now().Add(banFor)
}
