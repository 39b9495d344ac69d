package peer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipfs/go-cid"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// TestManifestWait requests a manifest from a node that is still seeking it. A node with a greater id gets it once it is known,
// and nothing if that takes too long. Other nodes get nothing immediately.
func TestManifestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		encoded, err := (&proto.Manifest{Name: "a", PieceLength: proto.MinPieceLength}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		id := proto.ManifestCID(encoded)
		d := metadata.NewDescription("", id, &proto.Link{}, nil)
		seeking := &Transfer{ID: id}
		seeking.states.current.Store(&state{phase: Seeking, desc: d, rec: metadata.Record{Link: &proto.Link{Manifest: id}}})
		at := documents{&registry{byID: map[cid.Cid]*Transfer{id: seeking}}, "m"}
		began := time.Now()
		waits := func(from libpeer.ID, known bool) time.Duration {
			t.Helper()
			got := at.find(t.Context(), metadata.ManifestFile, from, id.Bytes())
			if !known && got != nil || known && string(got) != string(encoded) {
				t.Errorf("%s gets %d bytes", from, len(got))
			}
			return time.Since(began)
		}
		if after := waits("l", false); after != 0 {
			t.Errorf("the lesser one waited for %v", after)
		}
		if after := waits("n", false); after != manifestWait {
			t.Errorf("the greater one waited for %v", after)
		}
		time.AfterFunc(manifestWait/2, func() {
			if err := d.Set(metadata.ManifestFile, encoded); err != nil {
				t.Error(err)
			}
		})
		if after := waits("n", true); after != 3*manifestWait/2 {
			t.Errorf("the greater one got it after %v", after)
		}
	})
}
