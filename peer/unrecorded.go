package peer

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// errUnrecorded is returned for a transfer that is not in the data directory.
var errUnrecorded = errors.New("the node has the content, but not at a path, as for a pipe or a stream: " +
	"write it to a file with `mob get LINK -o - > FILE`, or `mob rm` it first")

// unrecorded adds transfers of which nothing is in the data directory of a node.
type unrecorded struct{ node *Node }

// add starts a transfer, and holds it, unless the node has a transfer of the content, which it returns. open opens its
// store. Documents that are nil are requested from members.
func (u unrecorded) add(
	rec metadata.Record, manifest, torrent, plan []byte, open func(*proto.Manifest) (store.Store, error),
) (t, known *Transfer, err error) {
	t = newTransfer(u.node, rec.Link.Keys()[0], rec)
	t.dir, t.open, t.holds = "", open, 1
	d := t.newDescription(rec.Link)
	if manifest != nil {
		err = d.SetManifest(manifest)
	}
	if torrent != nil && err == nil {
		err = d.SetTorrent(torrent)
	}
	if plan != nil && err == nil {
		err = d.SetPlan(plan)
	}
	if err != nil {
		return nil, nil, err
	}
	t.change(func(s *state) { s.desc = d })
	if known, err := u.node.transfers.add(t, vfs.Place{}); known != nil || err != nil {
		return nil, known, err
	}
	err = t.do(func() error {
		t.start(false, true)
		return nil
	})
	if err != nil {
		u.node.transfers.remove(t)
	}
	return t, nil, err
}

// get is add for a get with a store of the caller.
func (u unrecorded) get(link *proto.Link, opt GetOptions) (t, known *Transfer, err error) {
	rec := metadata.Record{Link: link, Added: time.Now(), User: opt.User, InOrder: opt.InOrder, Priority: opt.Priority}
	return u.add(rec, opt.Manifest, opt.Torrent, nil, opt.Store)
}

// hold holds a transfer, unless that is recorded.
func (u unrecorded) hold(t *Transfer) error {
	if t.open == nil {
		return nil
	}
	return t.do(func() error {
		t.holds++
		return nil
	})
}

// Release ends a call's hold of a transfer with nothing in the data directory: each call of [Node.GetTo],
// [Node.SeedReader] and Get with a store that returned the transfer holds it. It is removed with the last hold. Release
// does nothing for other transfers.
func (n *Node) Release(t *Transfer) error {
	_, err := n.remove(t, false, func() bool {
		if t.open != nil {
			t.holds--
		}
		return t.open != nil && t.holds == 0
	})
	return err
}

// errKnown returns the error of content that has another transfer.
func errKnown(t *Transfer, u *vfs.User) error {
	switch root := t.state().rec.Root; {
	case !t.For(u):
		return &ElsewhereError{}
	case root != "":
		return &ElsewhereError{Root: root}
	}
	return errUnrecorded
}

// maxMemory bounds the content that a get keeps in memory, in bytes.
const maxMemory = 256 << 20

// open opens a store without a name for a single file, in memory if it is small.
func (u unrecorded) open(m *proto.Manifest) (store.Store, error) {
	if err := checkSingle(m); err != nil {
		return nil, err
	}
	dir, create := u.node.cfg.Data, datadir.InMemory
	if m.Length() > maxMemory {
		create = datadir.Unnamed
		err := checkRoom(dir, func() (int64, int64, bool) { return store.RoomFor(filepath.Join(dir, "content"), m, u.node.files) })
		if err != nil {
			return nil, err
		}
	}
	f, err := create(dir)
	if err != nil {
		return nil, err
	}
	return store.NewSingle(m, f)
}

// checkSingle fails unless the content is a single file.
func checkSingle(m *proto.Manifest) error {
	if e := m.Entries; len(e) != 1 || e[0].Path != "" {
		return fmt.Errorf("%s is a directory: give a directory with -o, or cast `tar c`", m.Name)
	}
	return nil
}
