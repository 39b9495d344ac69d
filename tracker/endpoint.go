package tracker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/mobgrid/mob/proto"
)

// endpoint is one tracker as a client sees it.
type endpoint struct {
	info peer.AddrInfo
	addr string // for people

	mu     sync.Mutex
	status TrackerStatus
	// last is the last announce in line, by swarm.
	last map[string]*turn
}

func newEndpoint(info peer.AddrInfo) *endpoint {
	addr := "/p2p/" + info.ID.String()
	if len(info.Addrs) > 0 {
		addr = info.Addrs[0].String() + addr
	}
	return &endpoint{info: info, addr: addr, status: TrackerStatus{Addr: addr}, last: make(map[string]*turn)}
}

// turn is a place in the line for one tracker. Announces of one swarm go one
// after the other: else a slow one could arrive after the member's leave and
// bring it back.
type turn struct {
	tracker *endpoint
	swarm   string          // of an announce; empty for a request that need not wait
	before  <-chan struct{} // closed when the one before has ended; nil for the first
	done    chan struct{}
}

// queue takes the next turn for req.
func (t *endpoint) queue(req proto.Message) *turn {
	next := &turn{tracker: t, done: make(chan struct{})}
	a, ok := req.(*proto.Announce)
	if !ok {
		return next
	}
	next.swarm = string(a.Swarm)
	t.mu.Lock()
	defer t.mu.Unlock()
	if last := t.last[next.swarm]; last != nil {
		next.before = last.done
	}
	t.last[next.swarm] = next
	return next
}

// end lets the one behind begin.
func (n *turn) end() {
	n.tracker.mu.Lock()
	if n.tracker.last[n.swarm] == n {
		delete(n.tracker.last, n.swarm)
	}
	n.tracker.mu.Unlock()
	close(n.done)
}

// ask waits for the turn, then sends a request's frame and returns the reply.
func (n *turn) ask(ctx context.Context, h host.Host, frame []byte) (proto.Message, error) {
	if n.before != nil {
		select {
		case <-n.before:
		case <-ctx.Done():
			return nil, fmt.Errorf("the announce before has not ended: %w", ctx.Err())
		}
	}
	reply, err := n.tracker.exchange(ctx, h, frame)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		// What broke when the time was up is not the cause.
		err = errors.New("no answer in time")
	}
	return reply, err
}

// exchange opens a stream, sends the frame and reads the reply.
func (t *endpoint) exchange(ctx context.Context, h host.Host, frame []byte) (proto.Message, error) {
	// libp2p refuses to dial for up to minutes after failures; announces are
	// rare enough by themselves, and a tracker that is back shall be found.
	if s, ok := h.Network().(*libp2pswarm.Swarm); ok {
		s.Backoff().Clear(t.info.ID)
	}
	if err := h.Connect(ctx, t.info); err != nil {
		return nil, err
	}
	st, err := h.NewStream(ctx, t.info.ID, proto.TrackerProtocol)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	reply, err := talk(st, frame)
	if err != nil {
		st.Reset()
		return nil, err
	}
	return reply, nil
}

func talk(st network.Stream, frame []byte) (proto.Message, error) {
	if _, err := st.Write(frame); err != nil {
		return nil, err
	}
	if err := st.CloseWrite(); err != nil {
		return nil, err
	}
	return proto.ReadMessage(st)
}

// note keeps how a request went, for [Client.Status].
func (t *endpoint) note(announce bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var refused *proto.RemoteError
	t.status.Reachable = err == nil || errors.As(err, &refused)
	t.status.LastError = ""
	if err != nil {
		t.status.LastError = oneLine(err)
		return
	}
	if announce {
		t.status.LastAnnounce = time.Now()
	}
}

func (t *endpoint) snapshot() TrackerStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}
