package group

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/proto"
)

// silentStream is a stream on which nothing arrives.
type silentStream struct {
	network.Stream
	once  sync.Once
	ended chan struct{}
}

func (s *silentStream) Reset() error {
	s.once.Do(func() { close(s.ended) })
	return nil
}

// silentGroup returns a group that ticks, with a session to each member of cluster B.
func silentGroup(t *testing.T, ids ...proto.PeerID) *Group {
	g := &Group{self: "self", cluster: "A", members: map[proto.PeerID]*member{}, casts: map[uint64]*cast{}}
	g.ctx, g.cancel = context.WithCancel(t.Context())
	now := time.Now()
	for _, id := range ids {
		s := &stream{Stream: &silentStream{ended: make(chan struct{})}, id: id, wake: make(chan struct{}, 1), lastRead: now, lastPing: now}
		g.members[id] = &member{id: id, cluster: "B", stream: s}
	}
	go g.tick()
	t.Cleanup(g.cancel)
	return g
}

func TestSilentSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := silentGroup(t, "silent", "blocked")
		g.mu.Lock()
		g.members["blocked"].stream.blocked = true // it is this node that does not read
		g.mu.Unlock()
		start := time.Now()
		<-g.members["silent"].stream.Stream.(*silentStream).ended
		if took := time.Since(start); took < silence || took > silence+tickEvery {
			t.Errorf("ended after %v", took)
		}
		g.cancel()
		synctest.Wait()
		if n := len(g.members["silent"].stream.urgent); n != 3 {
			t.Errorf("%d heartbeats", n)
		}
		select {
		case <-g.members["blocked"].stream.Stream.(*silentStream).ended:
			t.Error("the blocked session has ended")
		default:
		}
	})
}

// A relay has taken a message and could not forward its part. Later messages wait for it.
func TestRepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := silentGroup(t, "relay", "waits")
		relay, waits := g.members["relay"], g.members["waits"]
		for _, tt := range []struct {
			taken       bool // by the relay
			least, most time.Duration
		}{
			{true, repairAfter, repairAfter + tickEvery},
			{false, heartbeat, heartbeat + tickEvery},
		} {
			if err := g.Cast(t.Context(), bytes.Repeat([]byte("x"), 2*leastPart)); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			g.mu.Lock()
			if len(relay.stream.queue) != 1 || len(waits.stream.queue) != 1 {
				t.Errorf("%d and %d parts are sent", len(relay.stream.queue), len(waits.stream.queue))
			}
			relay.stream.queue, waits.stream.queue = nil, nil // they are written
			if tt.taken {
				g.taken(relay, g.lastCast)
			}
			for len(waits.stream.queue) == 0 {
				g.mu.Unlock()
				time.Sleep(100 * time.Millisecond)
				g.mu.Lock()
			}
			if took := time.Since(start); took < tt.least || took > tt.most+100*time.Millisecond {
				t.Errorf("sent again after %v, want %v to %v", took, tt.least, tt.most)
			}
			if again := len(relay.stream.queue); again > 0 == tt.taken || len(waits.stream.queue) != 2 || waits.stream.queue[0].Flags != 0 {
				t.Errorf("%d and %d parts are sent again, want all without the flag", again, len(waits.stream.queue))
			}
			g.taken(relay, g.lastCast)
			g.taken(waits, g.lastCast)
			if len(g.casts) != 0 || g.castCost != 0 {
				t.Errorf("%d messages of %d bytes remain", len(g.casts), g.castCost)
			}
			relay.stream.queue, waits.stream.queue = nil, nil
			g.mu.Unlock()
		}
	})
}

// The time between repairs doubles.
func TestRepairsBecomeRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := silentGroup(t, "relay", "waits")
		if err := g.Cast(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		g.mu.Lock()
		g.taken(g.members["relay"], g.lastCast)
		g.mu.Unlock()
		waits, repairs := g.members["waits"].stream, -1 // without the first time
		for end := time.Now().Add(takeTimeout); time.Now().Before(end); time.Sleep(time.Second) {
			g.mu.Lock()
			if len(waits.queue) > 0 {
				repairs++
			}
			waits.queue = nil // it is written
			waits.lastRead = time.Now()
			g.members["relay"].stream.lastRead = time.Now()
			g.mu.Unlock()
		}
		if repairs < 3 || repairs > 8 {
			t.Errorf("%d repairs", repairs)
		}
	})
}

// A member answers heartbeats and takes no message: it does not block Cast for ever.
func TestMemberThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := silentGroup(t, "takes", "hostile")
		takes, hostile := g.members["takes"], g.members["hostile"]
		start := time.Now()
		for done := false; !done; {
			if err := g.Cast(t.Context(), []byte("text")); err != nil {
				t.Fatal(err)
			}
			g.mu.Lock()
			g.taken(takes, g.lastCast)
			takes.stream.lastRead, hostile.stream.lastRead = time.Now(), time.Now()
			g.mu.Unlock()
			time.Sleep(time.Second)
			select {
			case <-hostile.stream.Stream.(*silentStream).ended:
				done = true
			default:
			}
		}
		if took := time.Since(start); took < takeTimeout || took > takeTimeout+2*time.Second {
			t.Errorf("ended after %v", took)
		}
		select {
		case <-takes.stream.Stream.(*silentStream).ended:
			t.Error("the session of the other member has ended")
		default:
		}
	})
}

// A group that is full forgets members without a session, which may have left.
func TestMembersThatLeftAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := silentGroup(t, "present")
		g.mu.Lock()
		defer g.mu.Unlock()
		for i := range 3 * maxMembers {
			id := proto.PeerID(fmt.Sprint("member ", i))
			if g.learn(&proto.Member{ID: id, Cluster: "B"}) == nil {
				t.Fatalf("member %d is not learned", i)
			}
			g.members[id].dialing = i == 0
		}
		if g.members["present"] == nil || g.members["member 0"] == nil || len(g.members) > maxMembers {
			t.Errorf("%d members", len(g.members))
		}
	})
}
