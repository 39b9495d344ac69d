package feed

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

const (
	// deltaBatch is the number of pieces that are compared at a time. The first ones with a difference tell whether a delta pays.
	deltaBatch = 64
	// deltaPays is the least number of bytes of changed pieces for each byte of a delta.
	deltaPays = 2
)

// newDelta seeds the delta from an earlier version to another one, and writes it to a file for a restart. It returns nil if there is none: the
// earlier version is not complete here, a delta is not worth it, or the disk has no room for it.
func (p *publisher) newDelta(ctx context.Context, v *peer.Transfer, before *proto.Link) (*peer.Transfer, error) {
	base, err := p.node.Transfer(before.String())
	if err != nil || base.Status().Phase != peer.Whole {
		return nil, nil
	}
	path := filepath.Join(p.dir, deltaFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := seedDelta(ctx, p.node, v, base, f)
	if t == nil {
		_ = os.Remove(path) // it may have filled the disk
	}
	if err != nil && ctx.Err() == nil {
		p.log.Warn("a version has no delta: followers fetch pieces", "error", err)
		err = nil
	}
	return t, err
}

// seedDelta writes the delta from a version to another one to an empty file, and seeds it. It returns nil if a delta is not worth it, or if
// the files of the earlier version were replaced: a delta would contain what a link of another user leads to.
func seedDelta(ctx context.Context, n *peer.Node, v, base *peer.Transfer, f *os.File) (*peer.Transfer, error) {
	m, out := v.Manifest(), bufio.NewWriter(f)
	worth, err := writeDelta(ctx, out, m, delta.NewBase(m, opener(base.Status().Root)), delta.NewBase(m, opener(v.Status().Root)))
	if err != nil || !worth || checkSame(ctx, base) != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return n.SeedReader(ctx, m.Name+".delta", f, peer.SeedOptions{Trackers: v.Link().Trackers})
}

// serveDelta serves the delta of the newest version again after a restart. The caller holds p.posting.
func (p *publisher) serveDelta(ctx context.Context) {
	h := p.known()
	if h == nil || h.Delta == nil {
		return
	}
	f, err := os.Open(filepath.Join(p.dir, deltaFile))
	if err == nil {
		defer f.Close()
		p.delta, err = p.node.SeedReader(ctx, h.Delta.Name, f, peer.SeedOptions{Trackers: h.Delta.Trackers})
	}
	if err == nil && p.delta.Link().Manifest != h.Delta.Manifest {
		err = fmt.Errorf("%s is of another version", f.Name())
		p.replaceDelta(nil)
	}
	if err != nil {
		p.log.Warn("the delta of the newest version is not served: followers fetch pieces", "error", err)
	}
}

// replaceDelta ends the transfer of the delta before. The caller holds p.posting.
func (p *publisher) replaceDelta(next *peer.Transfer) {
	if p.delta != nil {
		if err := p.node.Release(p.delta); err != nil {
			p.log.Warn("the transfer of a delta was not removed", "error", err)
		}
	}
	p.delta = next
}

// writeDelta writes a delta. It is not worth it, and may not be complete, if it has more than half of the bytes of the changed pieces.
func writeDelta(ctx context.Context, out io.Writer, m *proto.Manifest, before, next delta.Pieces) (worth bool, err error) {
	if err := delta.Start(out); err != nil {
		return false, err
	}
	changed, written := int64(0), int64(0)
	for first := 0; first < m.Pieces(); first += deltaBatch {
		var found [deltaBatch]difference
		err := store.InParallel(ctx, min(deltaBatch, m.Pieces()-first), func(i int) error {
			found[i] = compare(m, first+i, before, next)
			return nil
		})
		if err != nil {
			return false, err
		}
		for i, d := range found {
			changed += d.changed
			if d.encoded == nil {
				continue
			}
			written += int64(len(d.encoded))
			if err := delta.Add(out, first+i, d.encoded); err != nil {
				return false, err
			}
		}
		if changed >= deltaBatch*int64(m.PieceLength) && written*deltaPays > changed {
			return false, nil
		}
	}
	return written > 0 && written*deltaPays <= changed, nil
}

// difference is the result of compare: the size of the piece in bytes if it has changed, and the encoded difference if that is short.
type difference struct {
	changed int64
	encoded []byte
}

// compare compares a piece of two versions. If a file has changed since it was seeded, the difference is wrong, and the post fails.
func compare(m *proto.Manifest, piece int, before, next delta.Pieces) difference {
	c := comparisons.Get().(*comparison)
	defer comparisons.Put(c)
	size := m.PieceSize(piece)
	c.next, c.before = slices.Grow(c.next[:0], size)[:size], slices.Grow(c.before[:0], size)[:size]
	read, known := next.Read(piece, c.next), before.Read(piece, c.before)
	switch {
	case !read || !known:
		return difference{changed: int64(size)}
	case bytes.Equal(c.next, c.before):
		return difference{}
	}
	return difference{int64(size), c.encoder.Encode(c.next, c.before)}
}

// comparison has what compare uses for a piece, which is large.
type comparison struct {
	next, before []byte
	encoder      delta.Encoder
}

var comparisons = sync.Pool{New: func() any { return new(comparison) }} //nolint:gochecknoglobals // a cache
