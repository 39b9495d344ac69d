package peer_test

import (
	"bytes"
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

// inMemory is a content for [peer.Node.Join]: its link, its encoded manifest, and a store that has it.
func inMemory(t *testing.T, source *peer.Node, seed uint64, size int64) (*proto.Link, []byte, *store.Memory, storetest.Content) {
	t.Helper()
	c := storetest.Make(t, seed, storetest.File("", size))
	b, err := c.Manifest.Encode()
	if err != nil {
		t.Fatal(err)
	}
	st := store.NewMemory(c.Manifest)
	if _, err := st.WriteAt(c.Data, 0); err != nil {
		t.Fatal(err)
	}
	for i := range c.Manifest.Pieces() {
		if err := st.Commit(i); err != nil {
			t.Fatal(err)
		}
	}
	return &proto.Link{Manifest: proto.ManifestCID(b), Name: "content", Length: size, Peers: source.Addrs()}, b, st, c
}

// TestJoin moves a content between two nodes that have nothing of it on their disks.
func TestJoin(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir(), t.TempDir()}
	a, b := peertest.Start(t, "A", peertest.Data(dirs[0])), peertest.Start(t, "A", peertest.Data(dirs[1]))
	link, manifest, full, content := inMemory(t, a, 1, 5<<20+1)
	seed, err := a.Join(link, manifest, full, peer.JoinOptions{Seed: true})
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, seed)
	st := store.NewMemory(content.Manifest)
	get, err := b.Join(link, manifest, st, peer.JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	if err := get.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	got := make([]byte, len(content.Data))
	if _, err := st.ReadAt(got, 0); err != nil || !bytes.Equal(got, content.Data) {
		t.Errorf("other bytes: %v", err)
	}
	if s := get.Status(); s.Phase != peer.Whole || s.Have != s.Length || s.Root != "" || s.Seed {
		t.Errorf("status %+v", s)
	}
	if v, err := get.Verify(t.Context(), nil); err != nil || v.Checked != v.Pieces || v.Damaged.Count > 0 {
		t.Errorf("verified %+v: %v", v, err)
	}
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
	if _, err := get.Verify(t.Context(), nil); err == nil {
		t.Error("verified while stopped: no error")
	}
	if _, err := b.Remove(get, false); err != nil {
		t.Error(err)
	}
	if n := len(b.Transfers()); n != 0 {
		t.Errorf("%d transfers after Remove", n)
	}
	if _, err := st.ReadAt(got, 0); err != nil {
		t.Errorf("the store is closed: %v", err)
	}
	again, err := b.Join(link, manifest, st, peer.JoinOptions{Seed: true}) // by now it has all
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, again)
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if n := len(peertest.Start(t, "A", peertest.Data(dirs[1])).Transfers()); n != 0 {
		t.Errorf("a new node resumes %d transfers", n)
	}
}

// TestJoinRefused checks what Join refuses, and who may not use its content.
func TestJoinRefused(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	link, manifest, full, content := inMemory(t, n, 1, 1<<20)
	other, _, _, _ := inMemory(t, n, 2, 1<<20)
	empty := store.NewMemory(content.Manifest)
	for name, join := range map[string]func() (*peer.Transfer, error){
		"another manifest": func() (*peer.Transfer, error) { return n.Join(other, manifest, full, peer.JoinOptions{}) },
		"no manifest":      func() (*peer.Transfer, error) { return n.Join(link, nil, full, peer.JoinOptions{}) },
		"no link":          func() (*peer.Transfer, error) { return n.Join(&proto.Link{}, manifest, full, peer.JoinOptions{}) },
		"an empty seed":    func() (*peer.Transfer, error) { return n.Join(link, manifest, empty, peer.JoinOptions{Seed: true}) },
	} {
		if _, err := join(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := n.Transfers(); len(got) > 0 {
		t.Fatalf("%d transfers after refusals", len(got))
	}
	seed, err := n.Join(link, manifest, full, peer.JoinOptions{Seed: true})
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, seed)
	if _, err := n.Join(link, manifest, full, peer.JoinOptions{Seed: true}); err == nil {
		t.Error("joined twice: no error")
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := n.Get(link, out, peer.GetOptions{}); err == nil {
		t.Error("Get of a content that was joined: no error")
	}
	if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Get has created something: %v", err)
	}
	if _, err := n.Remove(seed, true); err == nil {
		t.Error("removed a content that is the caller's: no error")
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if _, err := n.Join(link, manifest, full, peer.JoinOptions{Seed: true}); err == nil {
		t.Error("joined a node that is closed: no error")
	}
}
