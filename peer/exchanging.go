package peer

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/gossip"
	"github.com/mobgrid/mob/peer/exchange"
	"github.com/mobgrid/mob/proto"
)

// exchanging is a swarm as its exchange sees it.
type exchanging swarm

// Post implements [exchange.Swarm].
func (s *exchanging) Post(ev mob.Event, from exchange.Peer) {
	c, _ := from.(*session)
	(*swarm)(s).post(input{ev: ev, sess: c})
}

// Complain implements [exchange.Swarm].
func (s *exchanging) Complain(c exchange.Complaint) { (*swarm)(s).complain(c) }

// Fail implements [exchange.Swarm].
func (s *exchanging) Fail(err error) { (*swarm)(s).fail(err) }

// ID implements [exchange.Peer].
func (c *session) ID() proto.PeerID { return c.node.ID }

// Name implements [exchange.Peer].
func (c *session) Name() string { return c.name }

// codeAs makes the swarm what its link says, before it runs.
func (s *swarm) codeAs(l *proto.Link) (err error) {
	switch {
	case l.Coded == 0:
	case l.Strategy.Gossip():
		who := gossip.Config{Self: s.node.self(), Cluster: s.node.cfg.Cluster, Seed: s.node.seed(s.t.ID)}
		s.form, s.mind, err = exchange.NewGossip(s.exchangeConfig(), l, who)
	default:
		err = s.code(l.Coded)
	}
	return err
}

// code makes the swarm one of a coded transfer, before it runs.
func (s *swarm) code(k int) error {
	n := s.node
	form, err := exchange.Coded(s.exchangeConfig(), k, s.t.link().Manifest.Bytes(), n.host.Peerstore().PrivKey(n.host.ID()))
	if err != nil {
		return err
	}
	s.form = form
	coding, have := form.Coded.Begin(form.Coding)
	s.mind = mob.New(mob.Config{
		Self: n.self(), Cluster: n.cfg.Cluster, Length: s.m.Length(), PieceLength: form.Coding.Block, Coding: coding,
		Seed: n.seed(s.t.ID), Tuning: n.cfg.Tuning,
	}, have)
	return nil
}
