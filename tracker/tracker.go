package tracker

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/proto"
)

// A young swarm is one whose members still find each other, while it is small
// enough for the load: there they are told to announce more often.
const (
	youngFor     = 2 * time.Minute
	youngMembers = 1000
	youngDivisor = 3
)

// Server is a tracker on a libp2p host.
type Server struct {
	// Set by New, then read only.
	host  host.Host
	cfg   Config
	clock func() time.Time

	// state is what requests change; it is held for microseconds, never for I/O.
	state struct {
		sync.Mutex
		table *table
		rng   *rand.Rand
	}

	// open is the streams being served, for Close and for MaxStreams.
	open struct {
		sync.Mutex
		streams map[network.Stream]struct{}
		closed  bool
		served  sync.WaitGroup
	}
}

// New starts a tracker on h. The host stays the caller's: Close does not close it.
func New(h host.Host, cfg Config) *Server { return newServer(h, cfg, time.Now) }

func newServer(h host.Host, cfg Config, clock func() time.Time) *Server {
	cfg = cfg.validate()
	s := &Server{host: h, cfg: cfg, clock: clock}
	s.state.table = newTable(cfg)
	seed := cfg.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	s.state.rng = rand.New(rand.NewPCG(seed, 0))
	s.open.streams = make(map[network.Stream]struct{})
	h.SetStreamHandler(proto.TrackerProtocol, s.serve)
	cfg.Log.Info("tracker started", "peer", h.ID())
	return s
}

// Close stops the service: streams being served are reset, and none is when
// Close returns. It may be called more than once.
func (s *Server) Close() error {
	s.open.Lock()
	if !s.open.closed {
		s.open.closed = true
		s.host.RemoveStreamHandler(proto.TrackerProtocol)
		s.cfg.Log.Info("tracker stopped", "peer", s.host.ID())
	}
	for st := range s.open.streams {
		st.Reset()
	}
	s.open.Unlock()
	s.open.served.Wait()
	return nil
}

// Size counts the swarms and the members that are known now, for display.
func (s *Server) Size() (swarms, members int) {
	s.state.Lock()
	defer s.state.Unlock()
	s.state.table.expire(s.clock())
	return len(s.state.table.swarms), s.state.table.members()
}

// announce carries out an announce of the node id.
func (s *Server) announce(id proto.PeerID, a *proto.Announce, addrs [][]byte) proto.Message {
	s.state.Lock()
	defer s.state.Unlock()
	now := s.clock()
	if a.Leaving {
		s.state.table.leave(now, a.Swarm, id)
		return &proto.Handout{Interval: seconds(s.cfg.Interval)}
	}
	m, refused := s.state.table.announce(now, id, a, addrs)
	if refused != nil {
		return goodbye(refused)
	}
	return &proto.Handout{Interval: s.interval(m), Members: handout(m, s.state.rng)}
}

// interval is when m shall announce again, in seconds, with a tenth of jitter to
// either side: members that began together do not stay in step.
func (s *Server) interval(m *member) uint32 {
	d := s.cfg.Interval
	if s.state.table.now.Sub(m.swarm.born) < youngFor && len(m.swarm.members) <= youngMembers {
		d /= youngDivisor
	}
	return seconds(time.Duration((0.9 + 0.2*s.state.rng.Float64()) * float64(d)))
}

func seconds(d time.Duration) uint32 { return uint32(max(d.Round(time.Second)/time.Second, 1)) }

// fleet carries out a fleet request.
func (s *Server) fleet(key []byte) proto.Message {
	s.state.Lock()
	defer s.state.Unlock()
	if f := s.state.table.fleet(s.clock(), key); f != nil {
		return f
	}
	return &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the tracker knows no member of this swarm"}
}
