package peer

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// errUnrecorded is returned for a transfer that is not in the data directory.
var errUnrecorded = errors.New("the node has the content, but not at a path, as for a pipe or a stream: " +
	"write it to a file with `mob get LINK -o - > FILE`, or `mob rm` it first")

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

// openUnnamed opens a store without a name for a single file, in memory if it is small.
func (n *Node) openUnnamed(m *proto.Manifest) (store.Store, error) {
	if err := checkSingle(m); err != nil {
		return nil, err
	}
	dir, create := n.cfg.Data, datadir.InMemory
	if m.Length() > maxMemory {
		create = datadir.Unnamed
		err := checkRoom(dir, func() (int64, int64, bool) { return store.RoomFor(filepath.Join(dir, "content"), m, n.files) })
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
		return fmt.Errorf("%s is a directory: give a directory with -o, or seed an archive with `tar c %s | mob seed -`", m.Name, m.Name)
	}
	return nil
}
