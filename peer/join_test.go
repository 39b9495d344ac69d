package peer_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// growing is content that grows up to its size, and the options of its members.
type growing struct {
	storetest.Content
	link *proto.Link
	opt  peer.JoinOptions
}

// newGrowing returns content with pieces of 64 KiB, whose source is a node.
func newGrowing(t *testing.T, source *peer.Node, seed uint64, pieces int) growing {
	t.Helper()
	c := storetest.Make(t, seed, storetest.File("", int64(pieces)*(64<<10)))
	sum := sha256.Sum256(c.Data)
	return growing{
		Content: c,
		link:    &proto.Link{Manifest: proto.ManifestCID(sum[:]), Name: "content", Peers: source.Addrs()},
		opt:     peer.JoinOptions{Pieces: pieces, PieceLength: 64 << 10},
	}
}

// join has a node take part with an empty store.
func (c growing) join(t *testing.T, n *peer.Node, source bool) (*peer.Growing, *store.Disk) {
	t.Helper()
	m := *c.Manifest
	m.PieceLength = c.opt.PieceLength
	whole := storetest.Content{Manifest: &m, Data: c.Data}
	whole.Hash(t)
	st, opt := whole.Store(t), c.opt
	opt.Source = source
	g, err := n.Join(c.link, st, opt)
	if err != nil {
		t.Fatal(err)
	}
	return g, st
}

// pieces returns the pieces from first to end. The last has size bytes.
func (c growing) pieces(first, end, size int) (all []peer.Piece) {
	for i := first; i < end; i++ {
		n := 64 << 10
		if i == end-1 {
			n = size
		}
		all = append(all, peer.Piece{Size: n, Sum: sha256.Sum256(c.Data[i<<16 : i<<16+n])})
	}
	return all
}

// TestJoin adds pieces at the source. The other members fetch them, and nothing is on
// their disks.
func TestJoin(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir(), t.TempDir()}
	a, b := peertest.Start(t, "A", peertest.Data(dirs[0])), peertest.Start(t, "A", peertest.Data(dirs[1]))
	c := newGrowing(t, a, 1, 40)
	source, from := c.join(t, a, true)
	get, to := c.join(t, b, false)
	grow := func(first, end, size int) {
		if _, err := from.WriteAt(c.Data[first<<16:end<<16], int64(first)<<16); err != nil {
			t.Fatal(err)
		}
		for i := first; i < end; i++ {
			if err := from.Commit(i); err != nil {
				t.Fatal(err)
			}
		}
		source.Grow(first, c.pieces(first, end, size))
		get.Grow(first, c.pieces(first, end, size))
		peertest.Eventually(t, "the pieces", func() bool { return to.Count() == end })
	}
	grow(0, 3, 64<<10)
	grow(3, 20, 100)
	grow(20, 40, 64<<10)
	want := bytes.Clone(c.Data)
	clear(want[19<<16+100 : 20<<16]) // the bytes beyond a short piece are not sent
	got := make([]byte, len(want))
	if _, err := to.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes: %v", err)
	}
	for _, g := range []*peer.Growing{source, get} {
		if s := g.Status(); s.Phase != peer.Fetching || s.Root != "" || g.Err() != nil {
			t.Errorf("status %+v: %v", s, g.Err())
		}
	}
	peertest.Eventually(t, "the number of verified bytes", func() bool { return b.Stats().Totals.VerifiedBytes == 39<<16+100 })
	for i, n := range []*peer.Node{a, b} {
		if names, err := filepath.Glob(filepath.Join(dirs[i], "transfers", "*")); err != nil || len(names) > 0 {
			t.Errorf("on the disk: %q, %v", names, err)
		}
		if all := n.Transfers(); len(all) != 1 {
			t.Errorf("%d transfers", len(all))
		}
	}

	if err := get.Stop(); err != nil {
		t.Error(err)
	}
	if s := get.Status(); s.Phase != peer.Stopped || !errors.Is(get.Err(), peer.ErrStopped) {
		t.Errorf("status %+v after Stop", s)
	}
	get.Grow(0, c.pieces(0, 1, 1)) // does nothing, and does not wait
	if _, err := get.Verify(t.Context(), nil); err == nil {
		t.Error("verified while stopped: no error")
	}
	if _, err := b.Remove(get.Transfer, false); err != nil {
		t.Error(err)
	}
	if n := len(b.Transfers()); n != 0 {
		t.Errorf("%d transfers after Remove", n)
	}
	if _, err := to.ReadAt(got, 0); err != nil {
		t.Errorf("the store is closed: %v", err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if n := len(peertest.Start(t, "A", peertest.Data(dirs[1])).Transfers()); n != 0 {
		t.Errorf("a new node resumes %d transfers", n)
	}
}

// TestJoinWithdrawsPieces removes pieces from a store. No peer reports them, they are not fetched again, and members that miss
// them get them from other members.
func TestJoinWithdrawsPieces(t *testing.T) {
	t.Parallel()
	const pieces = 8
	a, b, late := peertest.Start(t, "A"), peertest.Start(t, "A"), peertest.Start(t, "A")
	c := newGrowing(t, a, 1, pieces)
	source, from := c.join(t, a, true)
	get, to := c.join(t, b, false)
	if _, err := from.WriteAt(c.Data, 0); err != nil {
		t.Fatal(err)
	}
	for i := range pieces {
		if err := from.Commit(i); err != nil {
			t.Fatal(err)
		}
	}
	all := c.pieces(0, pieces, 64<<10)
	source.Grow(0, all)
	get.Grow(0, all)
	peertest.Eventually(t, "the pieces", func() bool { return to.Count() == pieces })
	forget := func(g *peer.Growing, st *store.Disk, first int) {
		for i := range pieces / 2 {
			if err := st.Forget(first + i); err != nil {
				t.Fatal(err)
			}
		}
		g.Withhold(first, pieces/2)
	}
	forget(source, from, 0)
	forget(get, to, pieces/2)
	last, st := c.join(t, late, false)
	last.Grow(0, all)
	peertest.Eventually(t, "the pieces of both", func() bool { return st.Count() == pieces })
	if n := to.Count(); n != pieces/2 {
		t.Errorf("the node has %d pieces", n)
	}
	for i, n := range []*peer.Node{a, b, late} {
		if s := n.Stats(); s.Totals.Bad+s.Totals.Damaged > 0 {
			t.Errorf("node %d counts %+v", i, s.Totals)
		}
	}
}

// TestJoinRejected checks invalid calls of Join, and other calls for its content.
func TestJoinRejected(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	c := newGrowing(t, n, 1, 16)
	if _, err := n.Join(&proto.Link{}, c.Store(t), c.opt); err == nil {
		t.Error("no link: no error")
	}
	if got := n.Transfers(); len(got) > 0 {
		t.Fatalf("%d transfers after an error", len(got))
	}
	g, st := c.join(t, n, true)
	if _, err := n.Join(c.link, st, c.opt); err == nil {
		t.Error("joined twice: no error")
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := n.Get(c.link, out, peer.GetOptions{}); err == nil {
		t.Error("Get of the content of Join: no error")
	}
	if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Get has created something: %v", err)
	}
	if _, err := n.Remove(g.Transfer, true); err == nil {
		t.Error("removed the content of the caller: no error")
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if _, err := n.Join(c.link, st, c.opt); err == nil {
		t.Error("joined a node that is closed: no error")
	}
}
