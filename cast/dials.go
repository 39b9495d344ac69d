package cast

import (
	"context"
	"log/slog"
	"sync"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cast/agent"
)

const (
	// dialWait is the time that an agent has to connect by itself, before the caster dials it: long enough for a machine
	// on which many agents start, and half as long as an agent waits for either.
	dialWait = time.Second
	// dialTimeout bounds a dial of an agent.
	dialTimeout = 15 * time.Second
	// maxDials bounds the concurrent dials of a cast.
	maxDials = 64
)

// dials are the connections that a caster opens to agents. Its methods may be called from any goroutine.
type dials struct {
	connect func(context.Context, libpeer.AddrInfo) error // does nothing if the peer is connected
	log     *slog.Logger
	slots   chan struct{} // a place for each dial
	all     sync.WaitGroup
}

func newDials(connect func(context.Context, libpeer.AddrInfo) error, log *slog.Logger) *dials {
	return &dials{connect: connect, log: log, slots: make(chan struct{}, maxDials)}
}

// start connects to an agent at the addresses that it reports, unless it has connected by itself: this
// machine may be behind a NAT. It does not wait for that.
func (d *dials) start(ctx context.Context, addrs []string) {
	if peer, err := agent.ParsePeer(addrs); err == nil {
		d.all.Go(func() { d.dial(ctx, *peer) })
	}
}

// dial is start for one agent. It returns when it has connected or failed.
func (d *dials) dial(ctx context.Context, agent libpeer.AddrInfo) {
	select {
	case <-time.After(dialWait):
	case <-ctx.Done():
		return
	}
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-d.slots }()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := d.connect(ctx, agent); err != nil {
		d.log.Debug("agent not reached", "peer", agent.ID, "error", err)
	}
}

// wait waits for the end of all dials. Their contexts have ended.
func (d *dials) wait() { d.all.Wait() }
