package swarm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// door is a swarm that admits peers, and does nothing with them.
type door struct {
	*Swarm
	protected map[libpeer.ID]bool
}

type doorHost struct {
	host.Host
	conns doorConns
}

func (h doorHost) ConnManager() connmgr.ConnManager { return h.conns }

type doorConns struct {
	connmgr.ConnManager
	*door
}

func (d doorConns) Protect(id libpeer.ID, _ string) { d.protected[id] = true }

func (d doorConns) Unprotect(id libpeer.ID, _ string) bool {
	delete(d.protected, id)
	return false
}

type doorStrategy struct{ mob.Strategy }

func (doorStrategy) Step(time.Time, mob.Event) []mob.Action { return nil }

type doorStream struct{ network.Stream }

func (doorStream) Reset() error { return nil }

func newDoor() *door {
	d := &door{Swarm: &Swarm{base: &base{cfg: Config{Link: &proto.Link{InfoHash: proto.InfoHash{1}}}}, self: "self"}, protected: map[libpeer.ID]bool{}}
	d.loopState = loopState{addrs: newAddressBook(), inbound: quota.New[netip.Addr](maxInbound), strategy: doorStrategy{}}
	d.byID = map[proto.PeerID]*session{}
	d.cfg.Host = doorHost{conns: doorConns{door: d}}
	return d
}

// comes has a peer join from an address, dialed by the node or by itself. It reports whether the
// peer was admitted.
func (d *door) comes(id libpeer.ID, host string, dialed bool) (*session, bool) {
	n := &nodePeer{peer: id, stream: doorStream{}, out: outbox{more: newToken()}, uploads: payload.NewQueue(), flows: newFlows()}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	c := &session{swarm: d.Swarm, node: mob.Node{ID: proto.PeerID(id)}, conn: n, host: netip.MustParseAddr(host)}
	n.session, c.dialer = c, c.ID()
	if dialed {
		c.dialer = d.self
	}
	if !d.admit(c) {
		return nil, false
	}
	d.byID[c.ID()] = c
	d.protect(c)
	return c, true
}

// stuckStream is a stream of a connection that takes no more: a reset of it would wait.
type stuckStream struct {
	network.Stream
	reset bool
}

func (s *stuckStream) Reset() error {
	s.reset = true
	return nil
}

// TestStuckConnection sends messages to a peer whose connection is stuck: its session ends, and the caller,
// which is the loop, does not reset the stream.
func TestStuckConnection(t *testing.T) {
	t.Parallel()
	c, _ := newDoor().comes("stuck", "192.0.2.1", false)
	stream := new(stuckStream)
	n := c.conn.(*nodePeer)
	n.stream = stream
	for range sendQueue + 1 {
		n.send(&proto.Have{})
	}
	if n.ctx.Err() == nil || stream.reset {
		t.Errorf("the session ended: %v; the caller has reset the stream: %v", n.ctx.Err() != nil, stream.reset)
	}
}

// TestVisitsBounded visits members that cannot be reached: each has one dial at a time, and there are at most maxVisits.
func TestVisitsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor()
		d.completeNodes = completeNodes{ids: map[proto.PeerID]struct{}{}, visiting: map[proto.PeerID]bool{}}
		var end context.CancelFunc
		d.ctx, end = context.WithCancel(t.Context())
		for i := range 2 * maxVisits {
			d.addrs.add(netip.Addr{}, proto.PeerID(fmt.Sprint(i)), [][]byte{{1}})
		}
		before := runtime.NumGoroutine()
		for range 10 {
			time.Sleep(visitEvery)
			d.visit() // no dial ends: there is no slot
		}
		if dials := runtime.NumGoroutine() - before; len(d.visiting) != maxVisits || dials > maxVisits {
			t.Errorf("%d members are visited, with %d dials", len(d.visiting), dials)
		}
		for id := range maps.Clone(d.visiting) {
			d.onUnreachable(id, errors.New("unreachable"))
		}
		if len(d.visiting) > 0 {
			t.Errorf("%d visits have not ended", len(d.visiting))
		}
		end()
		d.wg.Wait()
	})
}

// TestIdentitiesDoNotFillASwarm opens sessions with thousands of identities at one address. Other addresses
// and dialed members have room, and idle sessions are replaced by new ones of the same address.
func TestIdentitiesDoNotFillASwarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor()
		var flood []*session
		for i := range 2 * maxSessions {
			if c, ok := d.comes(libpeer.ID(fmt.Sprint("identity", i)), "192.0.2.66", false); ok {
				flood = append(flood, c)
			}
		}
		if len(flood) != maxInbound/2 {
			t.Errorf("one address has %d of %d sessions", len(flood), maxInbound)
		}
		for i := range 200 {
			if _, ok := d.comes(libpeer.ID(fmt.Sprint("member", i)), fmt.Sprintf("192.0.2.%d", i%50), false); !ok {
				t.Fatalf("no room for member %d of another address", i)
			}
			if _, ok := d.comes(libpeer.ID(fmt.Sprint("chosen", i)), "192.0.2.66", true); !ok {
				t.Fatalf("no room for member %d that the node dials", i)
			}
		}
		if _, ok := d.comes("too soon", "192.0.2.66", false); ok {
			t.Error("a peer on probation makes room")
		}
		flood[0].blocks.Add(1)
		time.Sleep(2 * probation)
		if _, ok := d.comes("neighbour", "192.0.2.66", false); !ok {
			t.Error("peers that exchange nothing do not make room at their address")
		}
		if d.session(flood[0].ID()) == nil || !d.protected[libpeer.ID(flood[0].ID())] {
			t.Error("a peer that exchanged a block made room")
		}
		if d.session("member0") == nil || d.session("chosen0") == nil {
			t.Error("a peer of another address made room")
		}
		if n := len(d.protected); n != d.sessionCount() {
			t.Errorf("%d peers are protected, and %d have sessions", n, d.sessionCount())
		}
		time.Sleep(time.Minute) // until closed sessions are reset
	})
}
