package swarm

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// completeStore is a store that has every piece.
type completeStore struct {
	store.Store
	*bytes.Reader
}

func (completeStore) Has(int) bool { return true }

func (s completeStore) ReadAt(b []byte, off int64) (int, error) { return s.Reader.ReadAt(b, off) }

// TestReportsOfBannedPeer checks that no piece is hashed for a peer whose session has ended, since it was banned for reports of valid
// pieces.
func TestReportsOfBannedPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pieces, allowed = 32, 5
		c := storetest.Make(t, 1, storetest.File("", pieces*storetest.PieceLength))
		ctx, cancel := context.WithCancel(t.Context())
		st, v := completeStore{Reader: bytes.NewReader(c.Data)}, store.NewVerifier(c.Manifest)
		codec := payload.NewPlain(payload.Config{Store: st, Verifier: v})
		k := newChecker(&base{cfg: Config{Verifier: v}, m: c.Manifest, st: st, codec: codec, ctx: ctx})
		hashed := 0
		k.post = func(mob.Event, payload.Peer) { hashed++ }
		k.joined = func(payload.Peer) bool { return hashed < allowed }
		from := &session{node: mob.Node{ID: proto.PeerID("a")}}
		for i := range uint32(pieces) {
			k.Suspect(payload.Suspicion{Peer: from, ByPeer: true, Piece: i, Number: i})
		}
		go k.run()
		synctest.Wait()
		if hashed != allowed {
			t.Errorf("%d pieces are hashed, want %d", hashed, allowed)
		}
		cancel()
	})
}
