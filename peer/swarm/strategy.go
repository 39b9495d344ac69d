package swarm

import (
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/bitset"
	picker "github.com/mobgrid/mob/mob/coded"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/proto"
)

// prepare makes the strategy and the codec that the link asks for.
func (s *Swarm) prepare() (err error) {
	s.coding, err = coded.CodingOf(s.cfg.Link, s.m)
	if err != nil {
		return err
	}
	cfg := payload.Config{
		Swarm:    s,
		Verifier: s.cfg.Verifier,
		Store:    countingStore{s.st, s},
		Counters: &s.traffic,
		Log:      s.log,
	}
	switch {
	case !s.coding.Coded():
		s.codec = payload.NewPlain(cfg)
		s.strategy = mob.New(s.stateConfig(), s.offered())
	case s.coding.Strategy.Gossip():
		codec := coded.NewPermutation(cfg, s.coding)
		blocks, have := codec.Generations()
		s.codec, s.pusher = codec, codec
		s.strategy = permutation.New(permutation.Config{
			Self:     s.self,
			Cluster:  s.cfg.Cluster,
			Blocks:   blocks,
			Have:     have,
			Strategy: s.coding.Strategy,
			Seed:     s.cfg.Seed,
		})
	default:
		codec, err := coded.New(cfg, s.coding, s.cfg.Link.Manifest.Bytes(), s.cfg.Key)
		if err != nil {
			return err
		}
		s.codec, s.polluters = codec, codec.Polluters
		mc := s.stateConfig()
		mc.Picker = picker.New(s.m.Length(), s.coding.Block, picker.Coding{
			Blocks: s.coding.K,
			Names:  s.coding.Names(),
			Piece:  int(s.m.PieceLength) / s.coding.Block,
			Live:   coded.Live(s.coding),
		})
		s.strategy = mob.New(mc, codec.Have())
	}
	if wrap := s.cfg.Faults.Codec; wrap != nil {
		s.codec = wrap(s.cfg.Link, s.codec)
	}
	if replace := s.cfg.Faults.Strategy; replace != nil {
		s.strategy = replace(s.m.Pieces())
	}
	return nil
}

// The window of pieces that are fetched in any order by a swarm that fetches from the front. With less, clusters start the
// same pieces more often.
const (
	windowBytes  = 16 << 20
	windowPieces = 16 // at least
)

// stateConfig describes the node and plain pieces to a [mob.State].
func (s *Swarm) stateConfig() mob.Config {
	together := 0
	if s.cfg.InOrder {
		together = max(windowPieces, windowBytes/int(s.m.PieceLength))
	}
	return mob.Config{
		Together:    together,
		Self:        s.self,
		Cluster:     s.cfg.Cluster,
		Length:      s.m.Length(),
		PieceLength: int(s.m.PieceLength),
		Growing:     s.cfg.Verifier.Growing(),
		UploadOnly:  s.cfg.UploadOnly,
		Assignment:  assign.Follow(s.cfg.Plan, s.cfg.Name),
		Seed:        s.cfg.Seed,
		Tuning:      s.cfg.Tuning,
	}
}

// offered lists the verified pieces, those that cannot be read, and those that are left out: the strategy must not fetch them.
func (s *Swarm) offered() (have []proto.Range) {
	for i := range s.m.Pieces() {
		if s.st.Has(i) || s.unreadable[i] || s.leavesOut(i) {
			have = bitset.Append(have, i)
		}
	}
	return have
}

// polluterNames returns the nodes that signed corrupt blocks.
func (s *Swarm) polluterNames() (names []string) {
	if s.polluters == nil {
		return nil
	}
	for _, id := range s.polluters() {
		names = append(names, libpeer.ID(id).String())
	}
	return names
}
