package metadata

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/proto"
)

// search requests one document from members, in rounds.
type search struct {
	*Fetcher
	protocol protocol.ID
	limit    int // bytes
	// members returns the members to ask in a round, in order.
	members func(context.Context) []peer.AddrInfo
	// take checks a document. If it fails, the search goes on.
	take func(from peer.ID, b []byte) error
	// failed is called with the error of each round.
	failed func(error)
	// pause follows the first round. It doubles with each round up to pauseMax.
	pause, pauseMax time.Duration
}

// errNobody is the error of a round without members.
var errNobody = errors.New("no known peer has the content")

// run searches until take accepts a document. Otherwise it returns the cause of ctx.
func (s *search) run(ctx context.Context) error {
	for pause := s.pause; ; pause = min(2*pause, s.pauseMax) {
		err := s.round(ctx)
		if err == nil {
			return nil
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

// round asks each member once, until take accepts a document. It returns the error of
// the last member.
func (s *search) round(ctx context.Context) error {
	last := errNobody
	for _, info := range s.members(ctx) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := s.request(ctx, info)
		if err == nil {
			err = s.take(info.ID, b)
		}
		if err == nil {
			return nil
		}
		last = fmt.Errorf("%s: %w", info.ID, err)
	}
	return last
}

// request asks one member for the document, by each key of the content until it knows
// one.
func (s *search) request(ctx context.Context, info peer.AddrInfo) (b []byte, err error) {
	for _, key := range s.Link.Keys() {
		var stream network.Stream
		if stream, err = s.OpenStream(ctx, info, s.protocol); err != nil {
			return nil, err
		}
		b, err = RequestDocument(ctx, stream, key, s.limit)
		var remote *proto.RemoteError
		if !errors.As(err, &remote) || remote.Code != proto.CodeUnknownSwarm {
			return b, err
		}
	}
	return nil, err
}
