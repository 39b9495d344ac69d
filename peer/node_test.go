package peer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

func TestGetFromSeed(t *testing.T) {
	path, content := peertest.RandomFile(t, 64<<20+12345)
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	seed, err := a.Seed(ctx, path, peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	link := seed.Link()
	out := filepath.Join(t.TempDir(), "copy.bin")
	get, err := b.Get(link, out, peer.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := get.Wait(ctx); err != nil {
		t.Fatalf("%v; status %+v", err, get.Status())
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content) {
		t.Fatal("the copy differs")
	}
	st := get.Status()
	t.Logf("%v %+v", st.Elapsed, st.Traffic)
	if st.Traffic.WANIn != int64(len(content)) || st.Duplicate != 0 {
		t.Errorf("traffic %+v, %d duplicate; want %d from the WAN once", st.Traffic, st.Duplicate, len(content))
	}
}
