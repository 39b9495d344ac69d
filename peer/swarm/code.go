package swarm

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/coded"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// code makes the strategy and the codec that the link asks for.
func (s *Swarm) code() (err error) {
	l := s.cfg.Link
	cfg := payload.Config{Swarm: (*exchanging)(s), Verifier: s.cfg.Verifier, Store: s.st, Count: &s.traffic, Log: s.log}
	mc := mob.Config{
		Self:        s.id(),
		Cluster:     s.cfg.Cluster,
		Length:      s.m.Length(),
		PieceLength: int(s.m.PieceLength),
		Seed:        s.cfg.Seed,
		Tuning:      s.cfg.Tuning,
	}
	switch {
	case l.Coded == 0:
		s.form = payload.Plain(cfg)
		s.strategy = mob.New(mc, s.stored())
	case l.Strategy.Gossip():
		who := permutation.Config{Self: s.id(), Cluster: s.cfg.Cluster, Seed: s.cfg.Seed}
		s.form, s.strategy, err = payload.NewGossip(cfg, l, who)
	default:
		s.form, err = payload.Coded(cfg, l.Coded, l.Manifest.Bytes(), s.cfg.Key)
		if err != nil {
			return err
		}
		c := s.form.Coding
		live, have := s.form.Coded.Begin(c)
		mc.Picker = coded.New(s.m.Length(), c.Block, coded.Coding{Blocks: c.K, Names: c.Names(), Live: live})
		s.strategy = mob.New(mc, have)
	}
	return err
}

// stored lists the verified pieces.
func (s *Swarm) stored() (have []proto.Range) {
	for i := range s.m.Pieces() {
		if s.st.Has(i) {
			have = append(have, proto.Range{First: uint32(i), Count: 1})
		}
	}
	return have
}

// exchanging is a swarm as its exchange sees it.
type exchanging Swarm

// Post implements [payload.Swarm].
func (s *exchanging) Post(ev mob.Event, from payload.Peer) {
	c, _ := from.(*session)
	(*Swarm)(s).post(strategyEvent{ev, c})
}

// Complain implements [payload.Swarm].
func (s *exchanging) Complain(c payload.Complaint) { (*Swarm)(s).complain(c) }

// Fail implements [payload.Swarm].
func (s *exchanging) Fail(err error) { (*Swarm)(s).Fail(err) }
