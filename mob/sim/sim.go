package sim

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// epoch is the time when every simulation begins, for strategies that want a date.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant in all but form

// sim is one run.
type sim struct {
	cfg      Config
	rng      *rand.Rand
	now      time.Duration
	events   eventQueue
	nodes    []*node
	byID     map[proto.PeerID]*node
	sites    []string
	siteOf   []int       // by cluster
	links    [][]*link   // between sites: from, to
	up, down []*link     // by cluster, nil unless it is a rack
	ways     [][][]*link // from a cluster to a cluster
	complete int         // receivers
	exempt   bool        // some receivers are not waited for

	trace      hash.Hash64
	frame      []byte // a buffer
	lanControl int64
	elsewhere  *bitset.Set // the pieces that a node other than the source has
	result     Report
}

// link is one direction between two sites, or between a rack and its site.
type link struct {
	pipe
	control int64
}

// Run simulates a transfer until every node that lives is complete, or the limit. Not to
// finish is not an error: see the report.
func Run(cfg Config) (*Report, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	s := &sim{
		cfg:   cfg,
		rng:   rand.New(rand.NewPCG(cfg.Seed, 0x73696d)),
		byID:  map[proto.PeerID]*node{},
		trace: fnv.New64a(),

		result: Report{Messages: map[proto.Type]Count{}},
	}
	s.sites, s.siteOf = s.cfg.sites()
	s.build()
	s.buildLinks()
	s.plan()
	limit := cfg.Limit
	if limit == 0 {
		limit = 20*cfg.Ideal() + time.Minute
	}
	for len(s.events.heap) > 0 && !s.over() {
		ev := s.events.next()
		if ev.at > limit {
			s.now = limit
			break
		}
		s.now = ev.at
		ev.do.happen(s)
	}
	return s.report(), nil
}

func (s *sim) later(at time.Duration, do happening) { s.events.add(at, do) }

// over reports whether every node is complete that is not killed.
func (s *sim) over() bool {
	if s.complete == len(s.nodes)-1 {
		return true
	}
	return s.exempt && !slices.ContainsFunc(s.nodes[1:], func(n *node) bool { return n.finished == 0 && !n.exempt })
}

// build makes the nodes.
func (s *sim) build() {
	f := &s.cfg.Faults
	hosts := make([]string, s.cfg.nodes()) // none, without a plan
	if s.cfg.Plan != nil {
		hosts = s.cfg.Hosts
	}
	for c, k := range s.cfg.Clusters {
		known := k.Name
		if s.cfg.Flat {
			known = s.sites[s.siteOf[c]]
		}
		for range k.Nodes {
			i := len(s.nodes)
			nic := s.cfg.nic(i)
			n := &node{
				index:   i,
				cluster: c,
				site:    s.siteOf[c],
				Node: mob.Node{
					ID:      proto.PeerID(fmt.Sprintf("%016x", s.rng.Uint64())),
					Cluster: known,
					Host:    hosts[i],
				},
				conns: map[*node]*conn{},
				asked: map[uint32][]request{},
				ranks: map[int]*rlnc.Basis{},
				store: newStore(&s.cfg),
				nic:   nic,
				in:    pipe{rate: constant(nic)},

				corrupts:   slices.Contains(f.Corrupters, i),
				lossy:      slices.Contains(f.Lossy, i),
				trickles:   slices.Contains(f.Tricklers, i),
				slow:       slices.Contains(f.Slow, i),
				claimsOnly: slices.Contains(f.Claimers, i) || slices.Contains(f.Boasters, i),
			}
			_, hangs := f.Hangs[i]
			dies := slices.ContainsFunc(f.Kills, func(k Kill) bool { return k.Node == i })
			n.exempt = n.corrupts || n.claimsOnly || hangs || dies
			s.exempt = s.exempt || n.exempt
			s.nodes = append(s.nodes, n)
			s.byID[n.ID] = n
		}
	}
	s.elsewhere = bitset.New(s.nodes[0].store.has.Cap())
	s.nodes[0].store.has.AddRange(0, s.nodes[0].store.has.Cap())
}

// plan queues starts and kills.
func (s *sim) plan() {
	for _, n := range s.nodes {
		at, ok := s.cfg.Starts[n.index]
		if !ok {
			at = time.Duration(s.rng.Int64N(int64(startSpread)))
		}
		var have []proto.Range
		if n.index == 0 {
			have = []proto.Range{{Count: uint32(n.store.has.Cap())}}
		}
		s.later(at, call(func() { n.start(s, have) }))
	}
	for _, k := range s.cfg.Faults.Kills {
		s.later(k.At, call(func() { s.nodes[k.Node].kill(s, k.Silent) }))
	}
	if s.cfg.Faults.KillSource {
		s.killSource()
	}
}

// killSource kills the source as soon as all pieces are elsewhere.
func (s *sim) killSource() {
	s.later(s.now+10*time.Millisecond, call(func() {
		if s.elsewhere.Full() {
			s.nodes[0].kill(s, false)
			return
		}
		s.killSource()
	}))
}

func (s *sim) rtt(a, b *node) time.Duration {
	if a.site == b.site {
		return s.cfg.LanRTT
	}
	return s.cfg.RTT
}

// frameSize is the length of a message on the wire. The frame goes into the trace.
func (s *sim) frameSize(from, to *node, m proto.Message) int {
	var err error
	if s.frame, err = proto.AppendFrame(s.frame[:0], m); err != nil {
		panic(err) // a strategy sent what no peer accepts
	}
	var head [12]byte
	binary.BigEndian.PutUint64(head[:], uint64(s.now))
	binary.BigEndian.PutUint16(head[8:], uint16(from.index))
	binary.BigEndian.PutUint16(head[10:], uint16(to.index))
	s.trace.Write(head[:])
	s.trace.Write(s.frame)
	s.countMessage(proto.TypeOf(m), len(s.frame))
	return len(s.frame)
}
