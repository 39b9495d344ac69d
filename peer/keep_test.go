package peer_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestKeep ends a seed, and copies with and without their files. Transfers in use are kept.
func TestKeep(t *testing.T) {
	t.Parallel()
	src, a := peertest.Start(t, "A"), peertest.Start(t, "B")
	path, content := peertest.RandomFile(t, 300_000)
	seed, link := peertest.Seed(t, src, path, peer.SeedOptions{})
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, a, link, out)
	peertest.Wait(t, get)
	peertest.Eventually(t, "the sent bytes", func() bool { return seed.Status().Traffic.WANOut >= int64(len(content)) })
	later := func(d time.Duration) time.Time { return time.Now().Add(d) }
	for _, n := range []*peer.Node{src, a} {
		peer.EndAll(n, later(1000*time.Hour)) // nothing is set
		n.SetKeep(peer.Keep{For: time.Hour})
	}
	if ends := get.Status().Ends; ends.Before(later(59*time.Minute)) || ends.After(later(time.Hour)) {
		t.Errorf("it ends at %v", ends)
	}
	peer.EndAll(src, later(2*time.Hour)) // it has served since it was asked last, and so is in use
	peer.EndAll(src, later(30*time.Minute))
	peer.EndAll(a, later(30*time.Minute))
	if len(src.Transfers())+len(a.Transfers()) != 2 {
		t.Fatal("ended early")
	}
	peer.EndAll(src, later(3*time.Hour))
	peer.EndAll(a, later(3*time.Hour))
	if len(src.Transfers())+len(a.Transfers()) != 0 {
		t.Fatalf("not ended: %+v, %+v", seed.Status(), get.Status())
	}
	peertest.EqualFile(t, path, content)
	peertest.EqualFile(t, out, content)

	_, link = peertest.Seed(t, src, path, peer.SeedOptions{})
	out += "2"
	peertest.Wait(t, peertest.Get(t, a, link, out))
	a.SetKeep(peer.Keep{Disk: 299_999, Delete: true})
	peer.EndAll(a, later(time.Minute))
	if len(a.Transfers()) != 1 {
		t.Fatal("ended while it was in use")
	}
	peer.EndAll(a, later(time.Hour))
	peer.EndAll(a, later(2*time.Hour))
	if _, err := os.Lstat(out); len(a.Transfers()) != 0 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%d transfers, %v", len(a.Transfers()), err)
	}
	peertest.EqualFile(t, path, content)

	permanent, err := a.Get(link, out, peer.GetOptions{Permanent: true})
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, permanent)
	a.SetKeep(peer.Keep{For: time.Hour, Disk: 1, Delete: true})
	peer.EndAll(a, later(3*time.Hour))
	peer.EndAll(a, later(4*time.Hour))
	if ends := permanent.Status().Ends; len(a.Transfers()) != 1 || !ends.IsZero() {
		t.Errorf("%d transfers; the permanent one ends at %v", len(a.Transfers()), ends)
	}
	peertest.EqualFile(t, out, content)
}
