package bittorrent

import (
	"context"
	"net/netip"
	"time"
)

// dialContacts connects to guests at the addresses that are known, until the swarm
// ends.
func (s *swarm) dialContacts() {
	room := make(chan struct{}, maxDials)
	for {
		at, wait, ok := s.contacts.take(time.Now())
		if !ok {
			select {
			case <-s.contacts.news:
			case <-time.After(wait):
			case <-s.ctx.Done():
				return
			}
			continue
		}
		select {
		case room <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		if !s.enter() {
			return
		}
		go func() {
			defer s.wg.Done()
			began := time.Now()
			err := s.dial(at, func() { <-room })
			s.log.Debug("contact ended", "addr", at, "error", err)
			s.contacts.done(at, time.Now(), time.Since(began), err)
		}()
	}
}

// dial connects to a client and carries on the conversation with it. connected is
// called once the dial has an end.
func (s *swarm) dial(at netip.AddrPort, connected func()) error {
	ctx, cancel := context.WithTimeout(s.ctx, dialTimeout)
	defer cancel()
	conn, err := s.server.cfg.Dial(ctx, "tcp", at.String())
	connected()
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	theirs, err := greet(conn, *s.handshake())
	if err != nil {
		return err
	}
	return s.host(conn, at, theirs, true)
}
