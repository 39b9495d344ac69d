package feed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// origins returns what may have pieces of a version: the content that came with the head, the delta, and the versions on the
// disk except the one in dir. It returns the number of bytes that were fetched for the delta, too.
func (f *Follower) origins(ctx context.Context, h *Head, m *proto.Manifest, dir uint64) (all []peer.Origin, fetched int64, err error) {
	if len(h.Inline) > 0 {
		return []peer.Origin{inline{m, h.Inline}}, 0, nil
	}
	if n := len(f.kept.Versions); n > 0 {
		base := delta.NewBase(m, opener(f.path(f.kept.Versions[n-1])))
		all = append(all, base)
		if h.Delta != nil && h.Base == f.kept.Complete {
			d, n, err := f.fetchDelta(ctx, h.Delta, m, base)
			if err != nil {
				return nil, 0, err
			}
			if fetched = n; d != nil {
				all = []peer.Origin{d}
			}
		}
	}
	for _, seq := range f.kept.Partial {
		if seq != dir {
			all = append(all, delta.NewBase(m, opener(f.path(seq))))
		}
	}
	return all, fetched, nil
}

// inline is content that came with a head.
type inline struct {
	m       *proto.Manifest
	content []byte
}

// Read implements [peer.Origin].
func (o inline) Read(piece int, p []byte) bool {
	offset := o.m.PieceOffset(piece)
	return offset+int64(len(p)) <= int64(len(o.content)) && copy(p, o.content[offset:]) == len(p)
}

// deltaWait bounds the time in which no byte of a delta arrives. After that, the pieces are fetched.
const deltaWait = 10 * time.Second

// fetchDelta fetches the delta of a version, and serves it to other followers until the next one. It returns nil if the delta does
// not arrive or is malformed.
func (f *Follower) fetchDelta(ctx context.Context, link *proto.Link, version *proto.Manifest, base delta.Pieces) (d *delta.Delta, fetched int64, err error) {
	if err := f.releaseDelta(); err != nil {
		return nil, 0, err
	}
	var file *os.File
	t, err := f.Node.Get(link, "", peer.GetOptions{Store: func(m *proto.Manifest) (store.Store, error) {
		if m.Length() > version.Length() {
			return nil, fmt.Errorf("the delta has %d bytes, and the version %d", m.Length(), version.Length())
		}
		var err error
		if file, err = datadir.Unnamed(f.State); err != nil {
			return nil, err
		}
		return store.NewSingle(m, file)
	}})
	if err != nil {
		f.Log.Warn("a delta is not fetched, but the pieces", "error", err)
		return nil, 0, nil
	}
	if !waitProgress(ctx, t) {
		return nil, t.Progress().Have, errors.Join(context.Cause(ctx), f.Node.Release(t))
	}
	f.delta = t
	st := t.Progress()
	d, err = delta.New(file, st.Length, version.Pieces(), base)
	if err != nil {
		f.Log.Warn("a delta is malformed: the pieces are fetched", "error", err)
		return nil, st.Have, nil
	}
	return d, st.Have, nil
}

// releaseDelta ends the transfer of a delta.
func (f *Follower) releaseDelta() error {
	if f.delta == nil {
		return nil
	}
	t := f.delta
	f.delta = nil
	return f.Node.Release(t)
}

// waitProgress waits until a transfer is complete. It reports false if the transfer ends or makes no progress.
func waitProgress(ctx context.Context, t *peer.Transfer) bool {
	for have := int64(-1); ; {
		waiting, cancel := context.WithTimeout(ctx, deltaWait)
		err := t.Wait(waiting)
		late := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		now := t.Progress().Have
		if !late || now <= have {
			return err == nil
		}
		have = now
	}
}
