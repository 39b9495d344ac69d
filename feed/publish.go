package feed

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// DefaultPush is the size in bytes of the largest content that is cast. At 40 ms and 3 MB/s the swarm is faster from about 1.5 MB on.
const DefaultPush = 512 << 10

// MaxPush bounds what can be cast, in bytes.
const MaxPush = group.MaxMessage - contentHead

// PublishOptions are the options of [Publish].
type PublishOptions struct {
	// Base is the transfer of the version before. If it is complete, and most of a piece is the same as before, a delta is
	// published, too. It may be nil.
	Base *peer.Transfer
	// Push is the size in bytes of the largest content that is cast. 0 means [DefaultPush], a negative size that nothing is cast.
	Push int64
	Note string
	// DeltaFile is the path of the file that a delta is written to. If it is empty, no delta is made.
	DeltaFile string
	// Record, if not nil, records the head before it is cast. A publisher that forgets its head would sign another one
	// with the same number.
	Record func(*Head) error
}

// Publish signs the content of a complete transfer of the group's node as the next version of a feed, and casts it to the group: the head, and
// the content if it is small. The version before is the one of the group's newest head. It returns the delta's transfer, if
// there is one: the caller releases it when followers no longer need it. Publish blocks while the delta is made.
func Publish(ctx context.Context, g *group.Group, key crypto.PrivKey, v *peer.Transfer, opt PublishOptions) (*Head, *peer.Transfer, error) {
	h := &Head{Seq: 1, Time: time.Now(), Link: v.Link(), Note: opt.Note, node: g.Node().Host().ID()}
	before, err := newestHead(g, key.GetPublic())
	if err != nil {
		return nil, nil, err
	}
	if before != nil {
		h.Seq = before.Seq + 1
	}
	m := v.Manifest()
	if m == nil || v.Status().Phase != peer.Whole {
		return nil, nil, errors.New("the content is not complete")
	}
	encoded, err := m.Encode()
	if err != nil {
		return nil, nil, err
	}
	if len(encoded) <= maxManifest {
		h.Manifest = encoded
	}
	root := v.Status().Root
	var content []byte
	if opt.Push == 0 {
		opt.Push = DefaultPush
	}
	if length := m.Length(); length <= max(opt.Push, maxInline) {
		if content, err = readAll(m, root); err != nil {
			return nil, nil, err
		}
		if len(content) <= maxInline {
			h.Inline = content
		} else {
			h.push = true
		}
	}
	var difference *peer.Transfer
	if content == nil && before != nil && opt.DeltaFile != "" && opt.Base != nil && opt.Base.Status().Phase == peer.Whole {
		difference, err = newDelta(ctx, g.Node(), v, opt.Base, opt.DeltaFile)
		if err != nil {
			return nil, nil, err
		}
		if difference != nil {
			h.Base, h.Delta = before.Seq, difference.Link()
		}
	}
	if err := h.seal(key); err != nil {
		return nil, difference, err
	}
	message := headMessage(h)
	if opt.Record != nil {
		if err := opt.Record(h); err != nil {
			return nil, difference, err
		}
	}
	g.SetNewest(message)
	err = g.Cast(ctx, message)
	if err == nil && h.push {
		err = g.Cast(ctx, contentMessage(h.Seq, content))
	}
	return h, difference, err
}

// readAll reads the content at a path, and fails if it has changed.
func readAll(m *proto.Manifest, root string) ([]byte, error) {
	b, pieces := make([]byte, m.Length()), delta.NewBase(m, opener(root))
	for i := range m.Pieces() {
		p := b[m.PieceOffset(i):][:m.PieceSize(i)]
		if !pieces.Read(i, p) || sha256.Sum256(p) != m.Hash(i) {
			return nil, fmt.Errorf("%s has changed since it was seeded", root)
		}
	}
	return b, nil
}

const (
	// deltaBatch is the number of pieces that are compared at a time. The first ones with a difference tell whether a delta pays.
	deltaBatch = 64
	// deltaPays is the least number of bytes of changed pieces for each byte of a delta.
	deltaPays = 2
)

// errNoDelta ends a delta that is not worth it.
var errNoDelta = errors.New("the delta is too long")

// newDelta writes a delta between two complete transfers to a file, and seeds it. It returns nil if nothing is the same, or everything.
func newDelta(ctx context.Context, n *peer.Node, v, base *peer.Transfer, path string) (*peer.Transfer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := v.Manifest()
	w := bufio.NewWriter(f)
	err = writeDelta(ctx, w, m, delta.NewBase(m, opener(base.Status().Root)), delta.NewBase(m, opener(v.Status().Root)))
	if errors.Is(err, errNoDelta) {
		return nil, nil
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		return nil, err
	}
	return seedDelta(ctx, n, m.Name+".delta", v.Link().Trackers, f)
}

// seedDelta seeds the delta in a file.
func seedDelta(ctx context.Context, n *peer.Node, name string, trackers []multiaddr.Multiaddr, f *os.File) (*peer.Transfer, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return n.SeedReader(ctx, name, f, peer.SeedOptions{Trackers: trackers})
}

// seedAgain seeds the delta of a head after a restart.
func seedAgain(ctx context.Context, n *peer.Node, h *Head, path string) (*peer.Transfer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := seedDelta(ctx, n, h.Delta.Name, h.Delta.Trackers, f)
	if err == nil && t.Link().Manifest != h.Delta.Manifest {
		return nil, errors.Join(fmt.Errorf("%s is of another version", path), n.Release(t))
	}
	return t, err
}

// writeDelta writes a delta. It fails with errNoDelta if that has more than half of the bytes of the changed pieces.
func writeDelta(ctx context.Context, out io.Writer, m *proto.Manifest, before, next delta.Pieces) error {
	w, err := delta.NewWriter(out)
	if err != nil {
		return err
	}
	changed, written := int64(0), int64(0)
	for first := 0; first < m.Pieces(); first += deltaBatch {
		var found [deltaBatch]difference
		err := store.InParallel(ctx, min(deltaBatch, m.Pieces()-first), func(i int) error {
			found[i] = compare(m, first+i, before, next)
			return nil
		})
		if err != nil {
			return err
		}
		for i, d := range found {
			changed += d.changed
			if d.encoded == nil {
				continue
			}
			written += int64(len(d.encoded))
			if err := w.Add(first+i, d.encoded); err != nil {
				return err
			}
		}
		if changed >= deltaBatch*int64(m.PieceLength) && written*deltaPays > changed {
			return errNoDelta
		}
	}
	if written == 0 || written*deltaPays > changed {
		return errNoDelta
	}
	return nil
}

// difference is the result of compare: the size of the piece in bytes if it has changed, and the encoded difference if that is short.
type difference struct {
	changed int64
	encoded []byte
}

// compare compares a piece of two versions. It leaves the difference out if a file has changed since it was seeded.
func compare(m *proto.Manifest, piece int, before, next delta.Pieces) difference {
	p, old := make([]byte, m.PieceSize(piece)), make([]byte, m.PieceSize(piece))
	known := before.Read(piece, old)
	if known && sha256.Sum256(old) == m.Hash(piece) {
		return difference{}
	}
	d := difference{changed: int64(len(p))}
	if known && next.Read(piece, p) && sha256.Sum256(p) == m.Hash(piece) {
		e := encoders.Get().(*delta.Encoder)
		d.encoded = e.Encode(p, old)
		encoders.Put(e)
	}
	return d
}

// encoders keeps encoders, which are large.
var encoders = sync.Pool{New: func() any { return new(delta.Encoder) }} //nolint:gochecknoglobals // a cache
