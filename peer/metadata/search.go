package metadata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// search requests one document from members, in rounds.
type search struct {
	*Fetcher
	file string    // of the document
	keys []cid.Cid // ids of the document at members
	// members returns the members to ask in a round, in order.
	members func(context.Context) []peer.AddrInfo
	// take checks a document. If it fails, the search continues, except after a finalError.
	take func([]byte) error
	// excluded is set if the trackers accept only members of their network.
	excluded error
	// failed is called with the error of each round.
	failed func(error)
	// pause follows the first round. It doubles with each round up to pauseMax.
	pause, pauseMax time.Duration
}

// errNoMember is the error of a round without members.
var errNoMember = errors.New("no known peer has the content")

// errExcluded ends a search: all peers of the link, or the trackers, accept only members of a network, and this node is
// in none.
var errExcluded = errors.New("not admitted")

// isExcluded reports whether a peer in a network rejected this node.
func isExcluded(err error) bool { return proto.CodeOf(err) == proto.CodeNoMember }

// run searches until take accepts a document, or a finalError. Otherwise it returns the cause of ctx.
func (s *search) run(ctx context.Context) error {
	for pause := s.pause; ; pause = min(2*pause, s.pauseMax) {
		err := s.round(ctx)
		if err == nil || errors.Is(err, errExcluded) || isFinal(err) {
			return err
		}
		if ctx.Err() == nil {
			s.failed(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

const (
	// nextAfter is the time until one more member is asked, unless a document is
	// expected within soon.
	nextAfter = 3 * time.Second
	soon      = 30 * time.Second
	// maxAsked bounds the members that are asked at a time. Beyond that the slowest request is
	// canceled, so that slow members do not delay the search.
	maxAsked = 3
)

// round asks each member once, until take accepts a document. While their
// answers are slow, it requests members again. It returns the error of the last member to fail.
func (s *search) round(ctx context.Context) error {
	members, listed := s.members(ctx), time.Now()
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan *request)
	var asked []*request
	defer func() {
		cancel()
		for range asked {
			<-answers
		}
	}()
	ask := func() {
		if len(members) > 0 && ctx.Err() == nil {
			asked = append(asked, s.ask(ctx, members[0], answers))
			members = members[1:]
		}
	}
	next := time.NewTicker(nextAfter)
	defer next.Stop()
	last, other := errNoMember, false // other: an error that is not an exclusion by a peer of the link
	for ask(); len(asked) > 0; {
		select {
		case r := <-answers:
			asked = slices.DeleteFunc(asked, func(o *request) bool { return o == r })
			err := r.err
			if err == nil {
				err = s.take(r.document)
			}
			if err == nil || isFinal(err) {
				return err
			}
			last = fmt.Errorf("%s: %w", r.info.ID, err)
			other = other || !isExcluded(err) || !s.named(r.info.ID)
			ask()
		case <-next.C:
			if slices.ContainsFunc(asked, func(r *request) bool { return r.left() <= soon }) {
				continue
			}
			if len(members) == 0 && s.pauseMax > 0 && time.Since(listed) > s.pauseMax {
				members, listed = notAsked(s.members(ctx), asked), time.Now()
			}
			slowest := slices.MaxFunc(asked, func(a, b *request) int { return cmp.Compare(a.left(), b.left()) })
			switch {
			case len(asked) < maxAsked:
				ask()
			case len(members) > 0:
				slowest.cancel() // its answer is followed by the next request
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(last, errNoMember) && s.excluded != nil {
		last = s.excluded
	}
	if isExcluded(last) && !other {
		return fmt.Errorf("%w: %w", errExcluded, last)
	}
	return last
}

// named reports whether the link names a peer. Anyone may have a tracker return the other ones.
func (s *search) named(id peer.ID) bool {
	return slices.ContainsFunc(transport.AddrInfos(s.Link.Peers, s.Self), func(p peer.AddrInfo) bool { return p.ID == id })
}

// notAsked returns the members that are not being asked.
func notAsked(members []peer.AddrInfo, asked []*request) []peer.AddrInfo {
	return slices.DeleteFunc(members, func(info peer.AddrInfo) bool {
		return slices.ContainsFunc(asked, func(r *request) bool { return r.info.ID == info.ID })
	})
}

// request is a request to one member.
type request struct {
	info     peer.AddrInfo
	started  time.Time
	cancel   context.CancelFunc
	progress progress

	// Set before the request is sent to answers.
	document []byte
	err      error
}

// ask starts a request to one member, which is sent to answers when it ends.
func (s *search) ask(ctx context.Context, info peer.AddrInfo, answers chan<- *request) *request {
	ctx, cancel := context.WithCancel(ctx)
	r := &request{info: info, started: time.Now(), cancel: cancel}
	go func() {
		defer cancel()
		r.document, r.err = s.request(ctx, r)
		answers <- r
	}()
	return r
}

func (r *request) left() time.Duration {
	received, length := r.progress.received.Load(), r.progress.length.Load()
	if received == 0 {
		return math.MaxInt64
	}
	return time.Duration(float64(time.Since(r.started)) * float64(length-received) / float64(received))
}

// request requests the document by each key until the member knows one.
func (s *search) request(ctx context.Context, r *request) (b []byte, err error) {
	for _, key := range s.keys {
		var stream network.Stream
		if stream, err = s.OpenStream(ctx, r.info, Protocols[s.file]); err != nil {
			return nil, err
		}
		b, err = requestDocument(ctx, stream, key, limits[s.file], &r.progress)
		if proto.CodeOf(err) != proto.CodeUnknownSwarm {
			return b, err
		}
	}
	return nil, err
}
