package cast

import (
	"context"
	"log/slog"
	"sync"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
)

const (
	// dialWait bounds the wait for the agent's connection before the caster dials: half of the agent's wait, and long enough for a
	// machine that starts many agents.
	dialWait = time.Second
	// dialTimeout bounds a dial of an agent.
	dialTimeout = 15 * time.Second
	// maxDials bounds the concurrent dials of a cast.
	maxDials = 64
)

// dials dials agents. Its methods may be called from any goroutine.
type dials struct {
	connect func(context.Context, libpeer.AddrInfo) error // does nothing if the peer is connected
	log     *slog.Logger
	slots   chan struct{} // a token for each dial
	all     sync.WaitGroup
}

// start dials an agent at its reported addresses in the background, unless it connects itself: this machine may be behind a NAT.
func (d *dials) start(ctx context.Context, agent libpeer.AddrInfo) {
	d.all.Go(func() {
		select {
		case <-time.After(dialWait):
		case <-ctx.Done():
			return
		}
		d.slots <- struct{}{}
		defer func() { <-d.slots }()
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		if err := d.connect(ctx, agent); err != nil {
			d.log.Debug("agent not reached", "peer", agent.ID, "error", err)
		}
	})
}
