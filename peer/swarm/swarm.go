package swarm

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Swarm is a node's part in one swarm. Its methods may be called from any goroutine.
type Swarm struct {
	// Constant.
	*base
	self      proto.PeerID
	coding    proto.Coding          // zero for plain pieces
	pusher    payload.Pusher        // the codec, if blocks are pushed without requests
	polluters func() []proto.PeerID // nil if the codec finds none
	cancel    context.CancelCauseFunc

	// Safe for concurrent use.
	traffic     payload.Counters
	sources     sources
	routes      routes
	meter       linkMeter
	counts      counters
	inbox       chan func()
	progress    token        // the next announce is due now
	announced   atomic.Int64 // pieces in the last announce, -1 if no tracker answered it
	status      atomic.Pointer[snapshot]
	workers     payload.Workers
	wg          sync.WaitGroup
	warnings    transport.Warnings
	notAdmitted atomic.Pointer[transport.NotAdmittedError] // the last one
	byTracker   sync.Map                                   // members that a tracker named, by proto.PeerID
	askedAt     atomic.Int64                               // Unix time in nanoseconds of the last announce for an unknown node

	sessions
	*checker
	loopState
}

// base is constant, and common to the parts of a swarm.
type base struct {
	cfg   Config
	m     *proto.Manifest
	st    store.Store
	codec payload.Codec
	log   *slog.Logger
	ctx   context.Context // ends with the swarm
}

// loopState is the state of the loop: only methods of events and their callees use it. They do
// not wait for a disk, a network or a full channel; a longer operation runs in a separate
// goroutine, which posts its result as an event.
type loopState struct {
	strategy mob.Strategy
	rates    rates
	addrs    *addressBook
	// inbound bounds inbound sessions. One address has at most as many slots as are free: a flood of identities at
	// one address does not fill the swarm.
	inbound *quota.Quota[netip.Addr]
	completeNodes
	site     siteReach
	throttle throttle
	dials    chan struct{} // holds a token for each dial of the last slowDial that runs
}

// maxDials bounds the concurrent dials of one swarm that have started in the last slowDial.
const maxDials = 32

// New returns a swarm that ends with ctx. The caller calls Run. Accept and AcceptBulk may be called
// before that.
func New(ctx context.Context, cfg Config) (*Swarm, error) {
	self, err := libpeer.IDFromPrivateKey(cfg.Key)
	if err != nil {
		return nil, err
	}
	b := &base{cfg: cfg, m: cfg.Verifier.Manifest(), st: cfg.Store, log: cfg.Log}
	s := &Swarm{
		base:     b,
		self:     proto.PeerID(self),
		inbox:    make(chan func(), inboxSize),
		progress: newToken(),
		checker:  newChecker(b),
		workers:  payload.NewWorkers(),
		sources:  sources{own: cfg.Cluster},
		loopState: loopState{
			addrs:         newAddressBook(),
			inbound:       quota.New[netip.Addr](maxInbound),
			completeNodes: completeNodes{ids: map[proto.PeerID]struct{}{}, visiting: map[proto.PeerID]bool{}},
			site:          newSiteReach(cfg.Cluster),
			dials:         make(chan struct{}, maxDials),
		},
	}
	s.sessions.byID = map[proto.PeerID]*session{}
	s.addrs.joined = func(id proto.PeerID) bool { return s.session(id) != nil }
	s.addrs.dropped = func(id proto.PeerID) { s.byTracker.Delete(id) }
	if err := s.prepare(); err != nil {
		return nil, err
	}
	s.status.Store(&snapshot{strategy: s.strategy.Status()})
	if s.cfg.Faults.Path == nil {
		s.cfg.Faults.Path = (*transport.Conn).Path
	}
	if s.cfg.Faults.Congestion == nil {
		s.cfg.Faults.Congestion = (*transport.Conn).SetCongestion
	}
	if s.cfg.Faults.DirectRetry == 0 {
		s.cfg.Faults.DirectRetry = directRetry
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.checker.post, s.checker.joined = s.Post, s.joined
	s.checker.lost = func(pieces int) {
		s.counts.add(Totals{Damaged: int64(pieces)})
		cfg.Damaged()
		s.AnnounceSoon()
	}
	s.checker.restored = func() {
		s.AnnounceSoon()
		if len(cfg.Unreadable) > 0 && s.Complete() { // for the strategy the pieces were stored from the start
			s.wg.Go(func() { cfg.Finished(s) })
		}
	}
	return s, nil
}

// Run takes part in the swarm until its context ends or the node fails, and returns the cause. It
// dials the given members.
func (s *Swarm) Run(members []proto.Member) error {
	var announcer sync.WaitGroup
	announcer.Go(func() { s.announce(members) })
	s.wg.Go(func() { s.bootstrap(transport.AddrInfos(s.cfg.Link.Peers, libpeer.ID(s.self))) })
	s.wg.Go(s.checker.run)
	for i := range s.workers {
		s.wg.Go(func() { s.workers.Run(s.ctx, i, s.codec) })
	}
	s.loop()
	s.wg.Wait()
	announcer.Wait()
	return context.Cause(s.ctx)
}

// Context ends with the swarm.
func (s *Swarm) Context() context.Context { return s.ctx }

// Fail ends the swarm because of an error of this node, such as a full disk.
func (s *Swarm) Fail(err error) { s.cancel(err) }

// AnnounceSoon announces to the trackers without waiting for the next interval.
func (s *Swarm) AnnounceSoon() { s.progress.put() }

// Complete reports whether every piece is stored that is not left out. It is false while the content grows.
func (s *Swarm) Complete() bool { return s.st.Count() == s.wanted() && !s.cfg.Verifier.Growing() }

// wanted returns the number of pieces that are not left out.
func (s *Swarm) wanted() int { return s.m.Pieces() - len(s.cfg.LeftOut) }

func (b *base) leavesOut(piece int) bool {
	_, found := slices.BinarySearch(b.cfg.LeftOut, piece)
	return found
}

// errEnded is the error of operations after the end of the swarm.
var errEnded = errors.New("the transfer has ended")
