package agent

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// handed is the [job] for a short content in the Start message, without a node.
type handed struct {
	*place
	dir      string // of the store
	manifest *proto.Manifest
	content  []byte
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
	st, err := store.Adopt(h.dir, h.dest, h.manifest, store.NewFiles(0))
	if err == nil {
		h.created.Store(true)
		err = errors.Join(h.fill(ctx, st), st.Close())
	}
	return h.outcome(h.manifest, err)
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
		piece := h.content[offset:][:h.manifest.PieceSize(i)]
		if !v.Good(i, piece) {
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
	p.Overwriting = h.overwriting()
	return p
}

// close implements [job].
func (h *handed) close() error {
	return h.discard(func() error {
		_, err := store.Remove(h.dir, h.dest, h.manifest, store.NewFiles(1))
		return err
	})
}
