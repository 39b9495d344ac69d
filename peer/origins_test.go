package peer_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// origin has some pieces, and a corrupt copy of some.
type origin struct {
	content     []byte
	pieceLength int
	has, wrong  func(piece int) bool
	asked       atomic.Int64
}

func (o *origin) Read(piece int, p []byte) bool {
	o.asked.Add(1)
	copy(p, o.content[piece*o.pieceLength:])
	if o.wrong(piece) {
		p[0]++
	}
	return o.has(piece)
}

// TestOrigins gets each second piece from an origin, which corrupts one, and two from the next origin. The remaining pieces come
// from the seed.
func TestOrigins(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "A")
	path, content := peertest.RandomFile(t, 20*proto.MinPieceLength+1)
	_, link := peertest.Seed(t, a, path, peer.SeedOptions{PieceLength: proto.MinPieceLength})
	never := func(int) bool { return false }
	first := &origin{content: content, pieceLength: proto.MinPieceLength, has: func(i int) bool { return i%2 == 0 }, wrong: func(i int) bool { return i == 4 }}
	second := &origin{content: content, pieceLength: proto.MinPieceLength, has: func(i int) bool { return i == 4 || i == 7 }, wrong: never}
	get, err := b.Get(link, filepath.Join(t.TempDir(), "copy"), peer.GetOptions{Origins: []peer.Origin{first, second}})
	if err != nil {
		t.Fatal(err)
	}
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
	const fetched = 9 // odd pieces except 7
	if st := get.Status(); st.Traffic.LANIn-st.Duplicate != fetched*proto.MinPieceLength {
		t.Errorf("%d bytes were fetched, %d of them twice, want %d once", st.Traffic.LANIn, st.Duplicate, fetched*proto.MinPieceLength)
	}
	if first.asked.Load() != 21 || second.asked.Load() != 11 {
		t.Errorf("the origins were asked for %d and %d pieces, want 21 and 11", first.asked.Load(), second.asked.Load())
	}
}
