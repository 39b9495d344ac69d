package feed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// fetched is a version whose files are complete.
type fetched struct {
	Version
	disk *store.Disk // of a version that was written without a transfer, until flush
}

// flush waits until the version is on the disk.
func (v *fetched) flush() error {
	if v == nil || v.disk == nil {
		return nil
	}
	d := v.disk
	v.disk = nil
	return errors.Join(d.Finish(), d.Close())
}

// fetch fetches a version, and switches the link. The caller flushes the result, also after an error.
func (f *follower) fetch(ctx context.Context, h *Head) (*fetched, error) {
	if f.hasBase(h) && !f.full && !f.copied(h.Seq) {
		if _, err := f.node.Transfer(h.Link.String()); err != nil {
			f.startDelta(h) // while the manifest is fetched
		}
	}
	encoded, err := f.manifest(ctx, h)
	if err != nil {
		f.releaseDelta()
		return nil, err
	}
	m, err := proto.DecodeVerified(h.Link.Manifest, encoded)
	if err != nil {
		return nil, err
	}
	f.startVersion(h)
	v := &fetched{Version: Version{Seq: h.Seq, ID: h.Link.Manifest.String(), Path: f.path(h.Seq), Note: h.Note, Length: m.Length()}}
	opt := peer.GetOptions{Manifest: encoded, Origins: f.origins(h, m), Permanent: true}
	local := opt.Origins
	var before peer.Status
	known, err := f.node.Transfer(h.Link.String())
	if err == nil {
		before = known.Progress()
	}
	v.Saved = v.Length
	elsewhere := known != nil && before.Root != v.Path
	if elsewhere { // such as the directory of another feed
		ended := before.Phase == peer.Stopped || before.Phase == peer.Failed // as the fetch of an older version by a newer one
		if _, err := os.Lstat(before.Root); err == nil && ended && !before.Seed {
			v.Saved, err = f.get(ctx, h, m, before.Root, opt, before)
			if err != nil {
				return v, err
			}
		}
		waitProgress(ctx, known)
		local, before = []peer.Origin{delta.NewBase(m, opener(before.Root))}, peer.Status{}
	}
	if elsewhere || known == nil && len(h.Inline) > 0 || f.copied(h.Seq) && known == nil {
		if v.disk, err = f.copyVersion(ctx, m, encoded, local, h.Seq); err == nil {
			return v, f.switchTo(h.Seq)
		}
		if ctx.Err() != nil {
			return v, err
		}
		f.log.Warn("a version is fetched, since not all of its content is here", "version", h.Seq, "error", err)
	}
	if v.Saved, err = f.get(ctx, h, m, v.Path, opt, before); err == nil {
		err = f.switchTo(h.Seq)
	}
	var damaged *peer.ElsewhereError
	if known != nil && errors.As(err, &damaged) { // its pieces are fetched again, unless it is a seed
		_, failed := known.Verify(ctx, nil)
		err = errors.Join(err, failed)
	}
	return v, err
}

// manifest returns the encoded manifest of a version. While it is fetched, the status has what that waits for.
func (f *follower) manifest(ctx context.Context, h *Head) ([]byte, error) {
	if len(h.Manifest) > 0 {
		return h.Manifest, nil
	}
	d, err := f.node.Describe(ctx, h.Link, func(waiting string) { f.change(func() { f.failed = waiting }) })
	if err != nil {
		return nil, err
	}
	f.change(func() { f.failed = "" })
	return d.EncodedManifest(), nil
}

// get fetches a version with a transfer, which may have run before, and returns the number of bytes that were not fetched.
func (f *follower) get(
	ctx context.Context, h *Head, m *proto.Manifest, path string, opt peer.GetOptions, before peer.Status,
) (saved int64, err error) {
	earlier := before.Have
	if f.hasBase(h) && len(opt.Origins) > 0 && before.Phase != peer.Whole {
		d, n, err := f.fetchDelta(ctx, h, m, opt.Origins[0])
		if err != nil {
			return 0, err
		}
		if earlier += n; d != nil {
			opt.Origins[0] = d
		}
	}
	if err := f.save(); err != nil {
		return 0, err
	}
	t, err := f.node.Get(h.Link, path, opt)
	if err != nil {
		return 0, err
	}
	if err := t.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, t.Stop())
		}
		return 0, err
	}
	st := t.Status()
	received := st.Traffic.WANIn + st.Traffic.LANIn
	if old := before.Traffic.WANIn + before.Traffic.LANIn; old <= received { // it is the same run
		received -= old
	}
	return max(0, st.Length-received-earlier), nil
}

// origins returns what may have pieces of a version: the content that came with the head, the newest complete version, and those
// after it that are incomplete.
func (f *follower) origins(h *Head, m *proto.Manifest) (all []peer.Origin) {
	if len(h.Inline) > 0 {
		return []peer.Origin{inline{m, h.Inline}}
	}
	complete, _ := slices.BinarySearch(f.kept.Versions, f.kept.Complete+1) // the number of complete ones
	for _, seq := range f.kept.Versions[max(0, complete-1):] {
		if seq != h.Seq {
			all = append(all, delta.NewBase(m, opener(f.path(seq))))
		}
	}
	return all
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

// progressWait bounds the time in which no byte of a delta arrives, or of a version at another path. After that, the pieces are fetched.
const progressWait = 10 * time.Second

// fetchedDelta is a delta that is fetched, and served to other followers until the next one.
type fetchedDelta struct {
	*peer.Transfer
	file *os.File // once the manifest of the delta is here
}

// hasBase reports whether a version has a delta to the complete version that is here.
func (f *follower) hasBase(h *Head) bool { return h.Delta != nil && h.Base == f.kept.Complete }

// startDelta starts to fetch the delta of a version, unless that has started.
func (f *follower) startDelta(h *Head) {
	if f.delta != nil && f.delta.Link().Manifest == h.Delta.Manifest {
		return
	}
	f.releaseDelta()
	d := &fetchedDelta{}
	var err error
	d.Transfer, err = f.node.Get(h.Delta, "", peer.GetOptions{Store: func(m *proto.Manifest) (store.Store, error) {
		if m.Length() > h.Link.Length {
			return nil, fmt.Errorf("the delta has %d bytes, and the version %d", m.Length(), h.Link.Length)
		}
		var err error
		if d.file, err = datadir.Unnamed(f.state); err != nil {
			return nil, err
		}
		return store.NewSingle(m, d.file)
	}})
	if err != nil {
		f.log.Warn("a delta is not fetched, but the pieces", "error", err)
		return
	}
	f.delta = d
}

// fetchDelta fetches the delta of a version. It returns nil if that does not arrive or is malformed, and the number of bytes that were
// fetched.
func (f *follower) fetchDelta(ctx context.Context, h *Head, version *proto.Manifest, base delta.Pieces) (peer.Origin, int64, error) {
	f.startDelta(h)
	if f.delta == nil {
		return nil, 0, nil
	}
	complete := waitProgress(ctx, f.delta.Transfer)
	have, file := f.delta.Progress().Have, f.delta.file
	if !complete {
		f.releaseDelta()
		return nil, have, context.Cause(ctx)
	}
	d, err := delta.New(file, have, version.Pieces(), base)
	if err != nil {
		f.log.Warn("a delta is malformed: the pieces are fetched", "error", err)
		return nil, have, nil
	}
	return d, have, nil
}

// releaseDelta ends the transfer of a delta.
func (f *follower) releaseDelta() {
	if f.delta == nil {
		return
	}
	if err := f.node.Release(f.delta.Transfer); err != nil {
		f.log.Warn("the transfer of a delta was not removed", "error", err)
	}
	f.delta = nil
}

// waitProgress waits until a transfer is complete. It reports false if the transfer ends or makes no progress.
func waitProgress(ctx context.Context, t *peer.Transfer) bool {
	for have := int64(-1); ; {
		waiting, cancel := context.WithTimeout(ctx, progressWait)
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
