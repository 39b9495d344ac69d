package peer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// TestGet fetches a file once over the WAN.
func TestGet(t *testing.T) {
	t.Parallel()
	path, content := peertest.RandomFile(t, 64<<20+12345)
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	ctx, cancel := context.WithTimeout(context.Background(), peertest.WaitTimeout)
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
	// After a stall, as on a busy machine, some is requested again, and may be in flight.
	peertest.Eventually(t, "each byte from the WAN once", func() bool {
		st := get.Status()
		return st.Traffic.WANIn-st.Duplicate == int64(len(content))
	})
}

// TestShortFiles fetches files shorter than a piece.
func TestShortFiles(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	for _, size := range []int{0, 1, 256 << 10, 256<<10 + 1, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			_, link, content := peertest.SeedRandom(t, a, size, peer.SeedOptions{})
			out := filepath.Join(t.TempDir(), "out")
			peertest.Wait(t, peertest.Get(t, b, link, out))
			peertest.EqualFile(t, out, content)
		})
	}
	if n := len(b.Transfers()); n != 5 {
		t.Errorf("%d transfers, want 5", n)
	}
}

// TestTree fetches a directory: the copy has the same manifest.
func TestTree(t *testing.T) {
	t.Parallel()
	src := filepath.Join(t.TempDir(), "tree")
	for path, text := range map[string]string{
		"a/b/c.txt": "hello", "a/empty": "", "ü ñ/file with spaces": strings.Repeat("x", 700<<10), "z": "last",
	} {
		put(t, filepath.Join(src, path), text)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(src, "hollow"), 0o700), os.Symlink("a/b", filepath.Join(src, "link"))); err != nil {
		t.Fatal(err)
	}
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	seed, err := a.Seed(context.Background(), src, peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	link := seed.Link()
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, peertest.Get(t, b, link, out))
	// The same tree has the same manifest.
	again, err := store.Scan(context.Background(), out, store.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	again.Name = "tree"
	enc, err := again.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if id := proto.ManifestCID(enc); !id.Equals(link.Manifest) {
		t.Error("the copy has another manifest than the source")
	}
}

// TestSpecialBitsLater gets a directory, and again with its special bits. They are kept if it is still fetched; a complete copy has
// lost them, and the call fails.
func TestSpecialBitsLater(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may keep special bits")
	}
	dir, out := filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "out")
	put(t, filepath.Join(dir, "file"), "text")
	if err := os.Chmod(filepath.Join(dir, "file"), 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	gate := peertest.NewGate(0)
	n := peertest.Start(t, "A")
	_, link := peertest.Seed(t, peertest.Start(t, "A", peertest.WithGate(gate)), dir, peer.SeedOptions{})
	fetched := func(get *peer.Transfer, want fs.FileMode) {
		t.Helper()
		peertest.Wait(t, get)
		info, err := os.Stat(filepath.Join(out, "file"))
		if err != nil || info.Mode() != want {
			t.Errorf("the file has mode %v, %v, want %v", info.Mode(), err, want)
		}
	}
	keep := peer.GetOptions{SpecialBits: true}
	get := peertest.Get(t, n, link, out)
	if _, err := n.Get(link, out, keep); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	fetched(get, 0o755|fs.ModeSetuid)
	remove := func(get *peer.Transfer) {
		t.Helper()
		if _, err := n.Remove(get, true); err != nil {
			t.Fatal(err)
		}
	}
	remove(get)
	get = peertest.Get(t, n, link, out)
	fetched(get, 0o755)
	if _, err := n.Get(link, out, keep); err == nil || !strings.Contains(err.Error(), "without --special-bits") {
		t.Errorf("a get with special bits of a copy without: %v", err)
	}
	remove(get)
	get, err := n.Get(link, out, keep)
	if err != nil {
		t.Fatal(err)
	}
	fetched(get, 0o755|fs.ModeSetuid)
}

// TestBadDestinations gets to paths that exist, or whose directory does not.
func TestBadDestinations(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	link, err := proto.ParseLink("magnet:?xt=urn:mob:bafyreihr4z5odw4k2lho2qesjywstoemylhgqxstzr6gb7iwlvvwm6bb7q")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file, filepath.Join(dir, "file", "below"), filepath.Join(file, "under a file")} {
		if _, err := n.Get(link, path, peer.GetOptions{}); err == nil {
			t.Errorf("%s was taken as a destination", path)
		} else {
			t.Log(err)
		}
	}
	if len(n.Transfers()) != 0 {
		t.Error("a rejected get left a transfer")
	}
}

// TestWrongManifest serves another manifest than the link's: the get waits for the right one.
func TestWrongManifest(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	h := peertest.Stranger(t)
	h.SetStreamHandler(proto.ManifestProtocol, func(s network.Stream) {
		metadata.NewServer().Serve(s, func([]byte) []byte { return []byte("another") })
	})
	link.Peers = peertest.LinkAddrs(t, h)
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "word of the wrong manifest", func() bool {
		return strings.Contains(get.Status().Waiting, "does not match")
	})
}
