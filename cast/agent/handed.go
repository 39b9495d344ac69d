package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// handed is the [job] for a short content in the Start message, without a node.
type handed struct {
	place
	dir      string // of the store
	manifest *proto.Manifest
	content  []byte
	created  atomic.Bool
	complete atomic.Bool
}

// newHanded returns nil if the message does not contain the content.
func newHanded(s *Start, dir string) (job, error) {
	if s.Manifest == nil {
		return nil, nil
	}
	link, err := proto.ParseLink(s.Link)
	if err != nil {
		return nil, err
	}
	m, err := proto.DecodeVerified(link.Manifest, s.Manifest)
	if err != nil || m.Length() != int64(len(s.Content)) {
		return nil, err
	}
	h := &handed{dir: filepath.Join(dir, "store"), manifest: m, content: s.Content}
	h.place, err = newPlace(s, link.Name)
	return h, err
}

// run implements [job].
func (h *handed) run(ctx context.Context) error {
	st, err := h.create()
	if err == nil {
		err = errors.Join(h.fill(ctx, st), st.Close())
	}
	if err != nil {
		return h.explain(err)
	}
	h.complete.Store(true)
	return nil
}

// create creates the store and the directories above the destination.
func (h *handed) create() (*store.Disk, error) {
	dir := filepath.Dir(h.dest)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	open := store.Create
	if h.force {
		open = store.Adopt
	}
	st, err := open(h.dir, h.dest, h.manifest, store.NewFiles(0))
	h.created.Store(err == nil)
	return st, err
}

// fill writes the missing pieces, and blocks until they are on the disk.
func (h *handed) fill(ctx context.Context, st *store.Disk) error {
	v := store.NewVerifier(h.manifest)
	err := store.Audit(ctx, st, v, store.Pieces(st.Unverified()), func(piece int, is store.Verdict, why error) error {
		if why != nil {
			return why
		}
		_, err := store.Record(st, piece, is, nil)
		return err
	})
	if err != nil {
		return err
	}
	for i := range h.manifest.Pieces() {
		if st.Has(i) {
			continue
		}
		offset := h.manifest.PieceOffset(i)
		piece, sum := h.content[offset:][:h.manifest.PieceSize(i)], v.NewHash()
		sum.Write(piece)
		if !v.Verify(i, sum) {
			return errors.New("the content was changed while it was cast")
		}
		if _, err := st.WriteAt(piece, offset); err != nil {
			return err
		}
		if err := st.Commit(i); err != nil {
			return err
		}
	}
	return st.Finish()
}

// progress implements [job].
func (h *handed) progress() (p Progress) {
	if h.complete.Load() {
		p.Bytes = h.manifest.Length()
	}
	p.Overwriting = h.existed && h.created.Load() && !h.complete.Load()
	return p
}

// close implements [job].
func (h *handed) close() error {
	if h.complete.Load() {
		return nil
	}
	var err error
	if h.created.Load() && !h.existed {
		_, err = store.Remove(h.dir, h.dest, h.manifest)
	}
	removeEmpty(h.dest, h.parent)
	return err
}
