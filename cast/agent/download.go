package agent

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// download is the [job] for a file or a directory.
type download struct {
	*place
	node     *peer.Node
	link     *proto.Link
	manifest []byte // nil if peers have to be asked for it
	transfer atomic.Pointer[peer.Transfer]
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
	t, err := d.node.Get(d.link, d.dest, peer.GetOptions{Reuse: true, Manifest: d.manifest})
	if err == nil {
		d.transfer.Store(t)
		d.created.Store(true)
		err = t.Wait(ctx)
	}
	if err == nil {
		err = t.Flush(ctx)
	}
	if err != nil {
		return d.outcome(nil, err)
	}
	return d.outcome(t.Manifest(), nil)
}

// progress implements [job].
func (d *download) progress() (p Progress) {
	if t := d.transfer.Load(); t != nil {
		p = d.progressOf(t.Progress())
	}
	p.Overwriting = d.overwriting()
	return p
}

// progressOf is [ProgressOf] of the transfer, for whose place a new destination is made before: then there is nothing to hash.
func (d *download) progressOf(st peer.Status) Progress {
	p := ProgressOf(st)
	if st.Phase == peer.Checking && st.Waiting == "" && !d.existed {
		p.Waiting = "the disk"
	}
	return p
}

// ProgressOf returns the progress of a transfer, without its traffic.
func ProgressOf(st peer.Status) Progress {
	p := Progress{Bytes: st.Have, Waiting: st.Waiting}
	switch st.Phase {
	case peer.Seeking:
		p.Waiting = "the manifest"
	case peer.Checking:
		p.Bytes, p.Waiting = 0, cmp.Or(st.Waiting, "the hashes of existing files")
	}
	return p
}

// close implements [job].
func (d *download) close() error {
	return d.discard(func() error {
		_, err := d.node.Remove(d.transfer.Load(), true)
		return err
	})
}
