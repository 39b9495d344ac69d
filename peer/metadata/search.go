package metadata

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/proto"
)

// search asks members for one document, round after round.
type search struct {
	*Fetcher
	kind  protocol.ID
	limit int // in bytes
	// members are whom to ask, one after the other. It is called for each round.
	members func(context.Context) []libpeer.AddrInfo
	// take checks a document. Its error sends the search on.
	take func(from libpeer.ID, b []byte) error
	// missed is told why a round brought nothing.
	missed func(error)
	// pause is the time between the first two rounds. It doubles from round to round,
	// up to pauseMax.
	pause, pauseMax time.Duration
}

// errNobody is why a round brings nothing while nobody is known.
var errNobody = errors.New("nobody is known who has the content")

// run asks until a document is taken. It fails when ctx ends, with its cause.
func (s *search) run(ctx context.Context) error {
	for pause := s.pause; ; pause = min(2*pause, s.pauseMax) {
		err := s.round(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			s.missed(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// round asks each member once, until a document is taken. Its error is why the last
// one's was not.
func (s *search) round(ctx context.Context) error {
	err := errNobody
	for _, info := range s.members(ctx) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, e := s.ask(ctx, info)
		if e == nil {
			e = s.take(info.ID, b)
		}
		if e == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w", info.ID, e)
	}
	return err
}

// ask asks one member by each name of the content, until it knows one.
func (s *search) ask(ctx context.Context, info libpeer.AddrInfo) (b []byte, err error) {
	for _, key := range s.Link.Keys() {
		var stream network.Stream
		if stream, err = s.OpenStream(ctx, info, s.kind); err != nil {
			return nil, err
		}
		b, err = RequestDocument(ctx, stream, key, s.limit)
		var refused *proto.RemoteError
		if !errors.As(err, &refused) || refused.Code != proto.CodeUnknownSwarm {
			return b, err
		}
	}
	return nil, err
}
