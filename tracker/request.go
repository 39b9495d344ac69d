package tracker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	libp2pswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"
	msmux "github.com/multiformats/go-multistream"

	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/proto/reach"
)

// ErrNoTracker is returned by a [Client] without trackers.
var ErrNoTracker = errors.New("no tracker is configured")

// errClosed is returned by a client after Close.
var errClosed = errors.New("the tracker client is closed")

type result[M proto.Message] struct {
	reply M
	err   error
}

// askAll sends req, and the reports that follow it, to all trackers and returns their replies, until the grace after the
// first one is over.
func askAll[M proto.Message](ctx context.Context, c *Client, req proto.Message, reports ...proto.Message) ([]M, error) {
	if len(c.trackers) == 0 {
		return nil, ErrNoTracker
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Encoded before the call returns: then the caller may change req.
	var frame []byte
	for _, m := range append([]proto.Message{req}, reports...) {
		var err error
		if frame, err = proto.AppendFrame(frame, m); err != nil {
			return nil, err
		}
	}
	if !c.requests.add(len(c.trackers)) {
		return nil, errClosed
	}

	// After a reply, the requests to slower trackers outlive the call, so that these
	// learn of the member too. A caller that gives up before cancels them all.
	asking, cancel := context.WithTimeout(c.requests.closing, c.cfg.Timeout)
	release := context.AfterFunc(ctx, cancel)
	results := make(chan result[M], len(c.trackers))
	for _, t := range c.trackers {
		before, end := t.enqueue(req)
		go func() {
			defer c.requests.running.Done()
			defer end()
			reply, err := ask[M](asking, c, t, before, frame)
			results <- result[M]{reply, err}
		}()
	}
	replies, err := collect(results, len(c.trackers), c.cfg.Grace)
	release()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return replies, err
}

// collect waits for n results, or for the grace after the first reply.
func collect[M proto.Message](results <-chan result[M], n int, grace time.Duration) (replies []M, _ error) {
	var graceOver <-chan time.Time
	var failed requestErrors
	for range n {
		select {
		case r := <-results:
			if r.err != nil {
				failed = append(failed, r.err)
				continue
			}
			replies = append(replies, r.reply)
			if graceOver == nil {
				graceOver = time.After(grace)
			}
		case <-graceOver:
			return replies, nil
		}
	}
	if replies == nil {
		return nil, failed
	}
	return replies, nil
}

func ask[M proto.Message](ctx context.Context, c *Client, t *endpoint, before <-chan struct{}, frame []byte) (reply M, err error) {
	msg, err := t.send(ctx, c.host, before, frame)
	if err == nil {
		switch msg := msg.(type) {
		case M:
			return msg, nil
		case *proto.Goodbye:
			err = (*proto.RemoteError)(msg)
		default:
			err = fmt.Errorf("unexpected reply of type %d", proto.TypeOf(msg))
		}
	}
	c.cfg.Log.Debug("tracker request failed", "tracker", t.addr, "error", oneLine(err))
	return reply, fmt.Errorf("tracker %s: %w", t.addr, err)
}

type endpoint struct {
	info peer.AddrInfo
	addr string // for logs and errors

	mu sync.Mutex
	// last is closed when the last announce in the queue of a swarm ends.
	last map[string]chan struct{}
	// slots holds a token for each open stream: a tracker accepts few from one member.
	slots chan struct{}
}

// maxRequests bounds the requests to one tracker at a time.
const maxRequests = 16

func newEndpoint(info peer.AddrInfo) *endpoint {
	addr := "/p2p/" + info.ID.String()
	if len(info.Addrs) > 0 {
		addr = info.Addrs[0].String() + addr
	}
	return &endpoint{info: info, addr: addr, last: make(map[string]chan struct{}), slots: make(chan struct{}, maxRequests)}
}

// enqueue takes the next turn of a request. It starts when before is closed, or immediately
// if that is nil, and end starts the next one.
// Announces of one swarm are sent one after the other: otherwise a slow one could arrive after the
// member's leave and add it again. Other requests do not queue.
func (t *endpoint) enqueue(req proto.Message) (before <-chan struct{}, end func()) {
	a, ok := req.(*proto.Announce)
	if !ok {
		return nil, func() {}
	}
	swarm, done := string(a.Swarm), make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.last[swarm]
	t.last[swarm] = done
	return before, func() {
		t.mu.Lock()
		if t.last[swarm] == done {
			delete(t.last, swarm)
		}
		t.mu.Unlock()
		close(done)
	}
}

// send waits for the turn of a request, sends its frame and returns the reply.
func (t *endpoint) send(ctx context.Context, h host.Host, before <-chan struct{}, frame []byte) (reply proto.Message, err error) {
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
			return nil, fmt.Errorf("the announce before has not ended: %w", ctx.Err())
		}
	}
	select {
	case t.slots <- struct{}{}:
		reply, err = t.roundTrip(ctx, h, frame)
		<-t.slots
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		// The error that the deadline caused is not the reason.
		err = errors.New("no answer in time")
	case isUnsupported(err):
		err = errors.New("it does not answer as a tracker: give the line that `mob tracker` prints")
	}
	return reply, err
}

// isUnsupported reports whether err means that the other end does not know the protocol, as a node that is not a tracker.
func isUnsupported(err error) bool {
	_, unsupported := errors.AsType[msmux.ErrNotSupported[protocol.ID]](err)
	return unsupported || errors.Is(err, &network.StreamError{ErrorCode: network.StreamProtocolNegotiationFailed, Remote: true})
}

// roundTrip opens a stream, sends the frame and reads the reply.
func (t *endpoint) roundTrip(ctx context.Context, h host.Host, frame []byte) (proto.Message, error) {
	// libp2p refuses to dial for up to minutes after failures. Announces are rare
	// enough by themselves, and a tracker that is back should be found.
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
	reply, err := exchange(st, frame)
	if err != nil {
		st.Reset()
		return nil, err
	}
	dropUnreachable(reply, reach.IP(st.Conn().RemoteMultiaddr()))
	return reply, nil
}

// dropUnreachable drops the addresses in a reply that a tracker may not name, see [reach.FromTracker].
func dropUnreachable(reply proto.Message, tracker netip.Addr) {
	switch m := reply.(type) {
	case *proto.AnnounceReply:
		for i := range m.Members {
			m.Members[i].Addrs = reach.FromTracker(m.Members[i].Addrs, tracker)
		}
	case *proto.Hosts:
		for i := range m.Hosts {
			m.Hosts[i].Addrs = reach.FromTracker(m.Hosts[i].Addrs, tracker)
		}
	case *proto.AnnounceURLs: // the node counts them as named by its user: a name may have any address
		m.URLs = slices.DeleteFunc(m.URLs, func(text string) bool {
			u, err := url.Parse(text)
			if err != nil {
				return true
			}
			addr, err := netip.ParseAddr(u.Hostname())
			return err != nil || !reach.MayName(tracker, addr)
		})
	}
}

func exchange(st network.Stream, frame []byte) (proto.Message, error) {
	if _, err := st.Write(frame); err != nil {
		return nil, err
	}
	if err := st.CloseWrite(); err != nil {
		return nil, err
	}
	return proto.ReadMessage(st)
}

type requestErrors []error

// Error implements error, on one line.
func (e requestErrors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = oneLine(err)
	}
	return "no tracker answered: " + strings.Join(texts, "; ")
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (e requestErrors) Unwrap() []error { return e }

// oneLine shortens an error to one line: of a failed dial the cause at each address,
// without libp2p's record of the attempts.
func oneLine(err error) string {
	text := err.Error()
	if dial, ok := errors.AsType[*libp2pswarm.DialError](err); ok && len(dial.DialErrors) > 0 {
		causes := make([]string, len(dial.DialErrors))
		for i, e := range dial.DialErrors {
			causes[i] = e.Cause.Error()
		}
		before, _, _ := strings.Cut(text, ": failed to dial")
		text = before + ": " + strings.Join(causes, ", ")
	}
	return strings.Join(strings.Fields(text), " ")
}
