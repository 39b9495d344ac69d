package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

const (
	// arrivalPause is the first time between two looks for the next piece. It doubles up to maxArrivalPause.
	arrivalPause    = time.Millisecond
	maxArrivalPause = 32 * time.Millisecond
)

// GetTo writes the content of a single-file link to w, in order, while it arrives, and returns the number of bytes
// written. Pieces are kept in memory, or in a file without a name in the data directory if there are more than 256 MiB,
// unless opt.Store is set: a slow w does not slow down the transfer, which serves other nodes. After success the
// transfer serves on until it is removed or the node closes, see [Node.Release]. After an error, such as one of w, GetTo
// has released it.
//
// If the node has a transfer of the content, GetTo writes its pieces. Of opt, only the priority applies to that transfer.
func (n *Node) GetTo(ctx context.Context, link *proto.Link, w io.Writer, opt GetOptions) (written int64, err error) {
	if len(link.Keys()) == 0 {
		return 0, errNoContent
	}
	if opt.Store == nil {
		opt.Store = n.openUnnamed
	}
	opt.InOrder = true
	a := opt.addition(link)
	a.join = func(known *Transfer) error {
		if !known.For(opt.User) {
			return errKnown(known, opt.User)
		}
		return nil
	}
	t, err := n.add(a)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Release(t))
		}
	}()
	defer t.use.start()()
	if s := t.state(); s.run != nil && s.running() {
		return s.run.writeTo(ctx, w)
	}
	return 0, fmt.Errorf("the transfer to %s has ended: %w", t.state().rec.Root, t.Err())
}

// GetBytes returns the content of a single-file link, see [Node.GetTo]. It fails if there are more than limit bytes.
func (n *Node) GetBytes(ctx context.Context, link *proto.Link, limit int64) ([]byte, error) {
	var b bytes.Buffer
	_, err := n.GetTo(ctx, link, &b, GetOptions{Store: func(m *proto.Manifest) (store.Store, error) {
		if m.Length() > limit {
			return nil, fmt.Errorf("%s has %d bytes, which is more than %d", m.Name, m.Length(), limit)
		}
		return n.openUnnamed(m)
	}})
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeTo writes the content to w, in order, and waits until the transfer is complete.
func (r *run) writeTo(ctx context.Context, w io.Writer) (written int64, err error) {
	if err := r.await(ctx, func() bool { return r.state().swarm != nil }); err != nil {
		return 0, err
	}
	m := r.verifier.Manifest()
	if err := checkSingle(m); err != nil {
		return 0, err
	}
	buf := make([]byte, m.PieceLength)
	for i := range m.Pieces() {
		stored := func() bool { return r.store.Has(i) || r.disk != nil && r.state().rec.Seed } // a seed does not fetch it
		if err := r.await(ctx, stored); err != nil {
			return written, err
		}
		piece := buf[:m.PieceSize(i)]
		if err := r.read(i, piece); err != nil {
			return written, err
		}
		k, err := w.Write(piece)
		written += int64(k)
		if err != nil {
			return written, err
		}
	}
	return written, r.Wait(ctx)
}

// await waits until a condition holds. It fails once the run has ended.
func (r *run) await(ctx context.Context, holds func() bool) error {
	for pause := arrivalPause; !holds(); pause = min(2*pause, maxArrivalPause) {
		select {
		case <-time.After(pause):
		case <-r.ended:
			return cmp.Or(r.Err(), errRestart)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// read reads a stored piece. Files with a name may have changed since.
func (r *run) read(piece int, p []byte) error {
	if _, err := r.store.ReadAt(p, r.verifier.Manifest().PieceOffset(piece)); err != nil && err != io.EOF {
		return err
	}
	if r.disk != nil && !r.verifier.Good(piece, p) {
		return fmt.Errorf("%s was changed since it was complete: `mob verify` it", r.state().rec.Root)
	}
	return nil
}
