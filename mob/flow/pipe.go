package flow

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Pipe has the outstanding requests of a peer. On a link to another cluster the window bounds the bytes of
// all peers at the other end. On the LAN the bound is the peer's rate times a round trip, plus a short queue.
type Pipe struct {
	Limits   *Limits
	Window   *Window // of the link, shared with its other peers; nil on the LAN
	External bool    // the peer speaks another protocol
	Near     bool    // the peer is in the node's site
	Size     int     // bytes of each request, 0 for any size
	Probing  bool    // requests are as small as possible
	Deep     bool    // a second block is in flight when one has arrived

	Meter
	Path
	requests []request
	inFlight int // bytes of them
}

type request struct {
	span proto.Span
	sent time.Time
}

// windowBlocks returns the number of blocks that a window holds at least. Each costs CPU, whatever its
// size, so they are few on a near path. On a far one the peer may send over several sockets, one block at
// a time on each. Between racks, a canceled block has often been sent already.
func (f *Pipe) windowBlocks() int {
	if f.Least > 0 && f.Least < f.Limits.aim() && !f.Near {
		return 2
	}
	return 4
}

// Block returns the size of the next request: about half a queue at the peer's rate, and the least size if
// the peer is being probed.
func (f *Pipe) Block() int {
	if f.Size > 0 {
		return f.Size
	}
	if f.Probing {
		return f.Limits.MinBlock
	}
	r := f.Rate()
	want, b := int(r*f.Limits.Queue.Seconds()/2), f.Limits.MinBlock
	if f.Window == nil {
		b = f.Limits.LANBlock
	}
	switch {
	case f.External:
		want = f.externalWindow() / 4
	case f.Window != nil:
		want = int(f.Window.Size) / f.windowBlocks()
	case r == 0:
		return f.Limits.MaxBlock
	}
	for b < f.Limits.MaxBlock && 2*b <= want {
		b *= 2
	}
	return b
}

// Room reports whether another block may be requested.
func (f *Pipe) Room() bool {
	block := f.Block()
	if f.Window == nil {
		return f.inFlight+block <= f.localWindow(block)
	}
	if f.External {
		return f.inFlight+block <= max(f.externalWindow(), block)
	}
	if f.Window.out+block > max(int(f.Window.Size), block) {
		return false
	}
	// One slow peer must not take all of the link's window.
	most := 2 * f.Rate() * (f.RTT + f.Limits.Queue).Seconds()
	return f.inFlight+block <= max(int(most), 4*f.Limits.MinBlock, block)
}

// externalWindow returns the bytes that may be in flight from an external peer. Such peers look at their
// requests on a timer, so the time of an answer is not the queue before it. The window is the rate times
// that time plus Queue, enough to find out whether more would arrive.
func (f *Pipe) externalWindow() int {
	want := f.Rate() * (f.RTT*3/2 + f.Limits.Queue).Seconds()
	return min(max(int(want), 4*f.Limits.MinBlock), f.Limits.MaxWindow)
}

// localQueue is the part of Queue that the queue at a local peer may take: a longer one delays pieces that
// other clusters wait for.
const localQueue = 4

// localWindow returns the bytes that may be in flight from a local peer: its rate times a round trip,
// plus a queue; at least a block, since a member of a large cluster requests of all other members.
func (f *Pipe) localWindow(block int) int {
	r := f.Rate()
	queue := min(int(r*f.Limits.Queue.Seconds()/localQueue), f.Limits.MaxWindow)
	if f.Deep {
		block *= 2
	}
	return max(int(r*f.Least.Seconds())+queue, block)
}

// trip returns the round trip without a queue.
func (f *Pipe) trip() time.Duration {
	if f.External {
		return f.RTT
	}
	return f.Least
}

// Wait estimates when a byte requested now would arrive, in seconds.
func (f *Pipe) Wait() float64 {
	r := f.Rate()
	if r == 0 {
		return 1
	}
	return f.trip().Seconds() + float64(f.inFlight)/r
}

// Owed returns the expected time of the requested bytes in seconds: 0 if there are none, and less than 0 if it is unknown.
func (f *Pipe) Owed() float64 {
	switch {
	case !f.Busy():
		return 0
	case f.Rate() > 0:
		return f.Wait()
	}
	return -1
}

// InFlight returns the bytes that are requested.
func (f *Pipe) InFlight() int { return f.inFlight }

// Busy reports whether requests are outstanding.
func (f *Pipe) Busy() bool { return len(f.requests) > 0 }

// Request records a request.
func (f *Pipe) Request(now time.Time, sp proto.Span) {
	if !f.Busy() {
		f.Start(now)
	}
	f.requests = append(f.requests, request{span: sp, sent: now})
	f.addInFlight(int(sp.Length))
}

// Cancel removes the request for a span, and reports whether there was one.
func (f *Pipe) Cancel(sp proto.Span) bool {
	_, ok := f.remove(sp)
	return ok
}

// CancelPiece removes the requests for a piece and returns their spans, the newest first.
func (f *Pipe) CancelPiece(piece int) (spans []proto.Span) {
	for k := len(f.requests) - 1; k >= 0; k-- {
		if sp := f.requests[k].span; int(sp.Piece) == piece {
			spans = append(spans, sp)
			f.remove(sp)
		}
	}
	return spans
}

// CancelAll removes all requests and returns their spans.
func (f *Pipe) CancelAll() []proto.Span {
	spans := f.Requested()
	f.requests = nil
	f.addInFlight(-f.inFlight)
	return spans
}

// Arrived counts a block, removes the request for it and corrects the window of the link, at which that
// number of members is active. It reports whether there was a request.
func (f *Pipe) Arrived(now time.Time, sp proto.Span, active int) bool {
	f.Add(now, int(sp.Length))
	r, ok := f.remove(sp)
	if ok && f.Window != nil {
		latency := now.Sub(r.sent)
		f.Window.arrived(sample{
			bytes:   int(sp.Length),
			held:    f.Window.out + int(sp.Length),
			block:   f.Block(),
			active:  active,
			latency: latency,
			trip:    f.Least,
			queue:   max(f.Queue, latency-f.RTT),
		})
	}
	return ok
}

func (f *Pipe) remove(sp proto.Span) (request, bool) {
	k := slices.IndexFunc(f.requests, func(r request) bool { return r.span == sp })
	if k < 0 {
		return request{}, false
	}
	r := f.requests[k]
	f.requests = slices.Delete(f.requests, k, k+1)
	f.addInFlight(-int(sp.Length))
	return r, true
}

func (f *Pipe) addInFlight(n int) {
	f.inFlight += n
	if f.Window != nil {
		f.Window.out += n
	}
}

// Requested returns the spans that are requested, the oldest first.
func (f *Pipe) Requested() []proto.Span {
	spans := make([]proto.Span, len(f.requests))
	for k, r := range f.requests {
		spans[k] = r.span
	}
	return spans
}

// Has reports whether a span is requested.
func (f *Pipe) Has(sp proto.Span) bool {
	return slices.ContainsFunc(f.requests, func(r request) bool { return r.span == sp })
}

// Waited returns the time since the oldest request for a piece.
func (f *Pipe) Waited(now time.Time, piece int) time.Duration {
	for _, r := range f.requests {
		if int(r.span.Piece) == piece {
			return now.Sub(r.sent)
		}
	}
	return 0
}
