package bittorrent

import (
	"context"
	"net/netip"
	"time"
)

// dialContacts connects to clients at the addresses that are known, until the lobby
// ends.
func (l *lobby) dialContacts() {
	room := make(chan struct{}, maxDials)
	for {
		at, wait, ok := l.contacts.take(time.Now())
		if !ok {
			select {
			case <-l.contacts.news:
			case <-time.After(wait):
			case <-l.ctx.Done():
				return
			}
			continue
		}
		select {
		case room <- struct{}{}:
		case <-l.ctx.Done():
			return
		}
		if !l.enter() {
			return
		}
		go func() {
			defer l.wg.Done()
			began := time.Now()
			err := l.dial(at, func() { <-room })
			l.log.Debug("contact ended", "addr", at, "error", err)
			l.contacts.done(at, time.Now(), time.Since(began), err)
		}()
	}
}

// dial connects to a client and carries on the conversation with it. connected is
// called once the dial has an end.
func (l *lobby) dial(at netip.AddrPort, connected func()) error {
	ctx, cancel := context.WithTimeout(l.ctx, dialTimeout)
	defer cancel()
	conn, err := l.server.cfg.Dial(ctx, "tcp", at.String())
	connected()
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	theirs, err := greet(conn, *l.handshake())
	if err != nil {
		return err
	}
	return l.welcome(conn, at, theirs, true)
}
