package tracker

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// Client asks one tracker or several as one. Its methods may be called from any
// goroutine.
//
// Every request goes to all trackers at once. The answers are merged, and one
// tracker that answers is enough: the call returns a short grace after the first
// answer, while requests to slower trackers go on for themselves.
type Client struct {
	host     host.Host
	cfg      ClientConfig
	trackers []*endpoint

	// life ends with Close, and with it the requests that outlive their call.
	life context.Context
	end  context.CancelFunc

	// running counts requests to single trackers.
	running struct {
		sync.Mutex
		closed bool
		asks   sync.WaitGroup
	}
}

// NewClient makes a client of the trackers on h. The host stays the caller's.
func NewClient(h host.Host, trackers []peer.AddrInfo, cfg ClientConfig) *Client {
	c := &Client{host: h, cfg: cfg.validate()}
	c.life, c.end = context.WithCancel(context.Background())
	for _, info := range trackers {
		c.trackers = append(c.trackers, newEndpoint(info))
	}
	return c
}

// Announce tells the trackers of this node and returns the members they tell of,
// each once. It blocks until the trackers have answered, at most for Timeout. The
// error tells of each tracker's failure, and is nil if any has answered.
func (c *Client) Announce(ctx context.Context, a *proto.Announce) (*proto.Handout, error) {
	handouts, err := gather[*proto.Handout](ctx, c, a)
	if err != nil {
		return nil, err
	}
	return mergeHandouts(handouts, proto.PeerID(c.host.ID())), nil
}

// Fleet asks how far a swarm is; swarm is the binary CID of the manifest. Where
// trackers differ, the one that knows more nodes of a cluster is believed. If no
// tracker knows the swarm the error wraps a [proto.RemoteError] with
// proto.CodeUnknownSwarm.
func (c *Client) Fleet(ctx context.Context, swarm []byte) (*proto.Fleet, error) {
	fleets, err := gather[*proto.Fleet](ctx, c, &proto.FleetRequest{Swarm: swarm})
	if err != nil {
		return nil, err
	}
	return mergeFleets(fleets), nil
}

// TrackerStatus is how a client stands with one tracker.
type TrackerStatus struct {
	// Addr is the tracker's multiaddr with its peer id.
	Addr string
	// Reachable says that the tracker answered the last request, if only to
	// refuse it.
	Reachable bool
	// LastError is why the last request failed, empty when it did not.
	LastError string
	// LastAnnounce is when the tracker last took an announce.
	LastAnnounce time.Time
}

// Status tells of every tracker, in the order of [NewClient].
func (c *Client) Status() []TrackerStatus {
	out := make([]TrackerStatus, len(c.trackers))
	for i, t := range c.trackers {
		out[i] = t.snapshot()
	}
	return out
}

// begin takes n requests in, unless the client is closed.
func (c *Client) begin(n int) bool {
	c.running.Lock()
	defer c.running.Unlock()
	if c.running.closed {
		return false
	}
	c.running.asks.Add(n)
	return true
}

// Close ends the requests that are under way and waits for them. Later ones fail.
func (c *Client) Close() error {
	c.running.Lock()
	c.running.closed = true
	c.running.Unlock()
	c.end()
	c.running.asks.Wait()
	return nil
}
