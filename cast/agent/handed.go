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

// handed is the job of a host that gets a short content with its Start message. It has no node.
type handed struct {
	place
	dir      string // of the store
	manifest *proto.Manifest
	content  []byte
	created  atomic.Bool
	whole    atomic.Bool
}

// newHanded returns nil if the message does not have all of the content.
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

// errOther says that the bytes of a content are not those of its manifest.
var errOther = errors.New("the content was changed while it was cast")

// run implements [job].
func (h *handed) run(ctx context.Context) error {
	st, err := h.create()
	if err == nil {
		err = errors.Join(h.fill(ctx, st), st.Close())
	}
	if err != nil {
		return h.explain(err)
	}
	h.whole.Store(true)
	return nil
}

// create opens the store, with the folders above it.
func (h *handed) create() (*store.Disk, error) {
	folder := filepath.Dir(h.dest)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(folder, 0o777); err != nil {
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

// fill writes what is not at the destination, and blocks until all of it is on the disk.
func (h *handed) fill(ctx context.Context, st *store.Disk) error {
	v := store.NewVerifier(h.manifest)
	err := store.Audit(ctx, st, v, store.Pieces(st.Doubtful()), func(piece int, is store.Verdict, why error) error {
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
			return errOther
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
	if h.whole.Load() {
		p.Bytes = h.manifest.Length()
	}
	p.Overwriting = h.existed && h.created.Load() && !h.whole.Load()
	return p
}

// handle implements [job]. A content comes without.
func (h *handed) handle(m *Message) {}

// close implements [job].
func (h *handed) close() error {
	if h.whole.Load() {
		return nil
	}
	var err error
	if h.created.Load() && !h.existed {
		_, err = store.Remove(h.dir, h.dest, h.manifest)
	}
	removeEmpty(h.dest, h.parent)
	return err
}
