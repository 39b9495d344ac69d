package agent

import (
	"context"
	"sync/atomic"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// download is the job of a host that gets a file or a folder.
type download struct {
	place
	node     *peer.Node
	link     *proto.Link
	manifest []byte // nil if it is to be asked for
	transfer atomic.Pointer[peer.Transfer]
	whole    atomic.Bool
}

func newDownload(n *peer.Node, s *Start) (job, error) {
	link, err := proto.ParseLink(s.Link)
	if err != nil {
		return nil, err
	}
	d := &download{node: n, link: link, manifest: s.Manifest}
	d.place, err = newPlace(s, link.Name)
	return d, err
}

// run implements [job].
func (d *download) run(ctx context.Context) error {
	t, err := d.node.Get(d.link, d.dest, peer.GetOptions{Reuse: d.force, Manifest: d.manifest})
	if err != nil {
		return d.explain(err)
	}
	d.transfer.Store(t)
	if err := t.Wait(ctx); err != nil {
		return d.explain(err)
	}
	if err := t.Flush(ctx); err != nil {
		return d.explain(err)
	}
	d.whole.Store(true)
	return nil
}

// progress implements [job].
func (d *download) progress() (p Progress) {
	if t := d.transfer.Load(); t != nil {
		st := t.Progress()
		p.Waiting = st.Waiting
		if st.Phase == peer.Seeking {
			p.Waiting = "the manifest"
		}
		if st.Phase != peer.Checking {
			p.Bytes = st.Have
		}
		p.Overwriting = d.existed && !d.whole.Load()
	}
	return p
}

// handle implements [job]. A content comes without.
func (d *download) handle(m *Message) {}

// close implements [job]. What was at the destination before is left, though parts of it may be
// overwritten.
func (d *download) close() error {
	if d.whole.Load() {
		return nil
	}
	var err error
	if t := d.transfer.Load(); t != nil && !d.existed {
		_, err = d.node.Remove(t, true)
	}
	removeEmpty(d.dest, d.parent)
	return err
}
