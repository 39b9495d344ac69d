package peer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

func TestSmallContents(t *testing.T) {
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

func TestTree(t *testing.T) {
	src := filepath.Join(t.TempDir(), "tree")
	for path, text := range map[string]string{
		"a/b/c.txt": "hello", "a/empty": "", "ü ñ/file with spaces": strings.Repeat("x", 700<<10), "z": "last",
	} {
		full := filepath.Join(src, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o640)); err != nil {
			t.Fatal(err)
		}
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

func TestResumeFetchesOnlyWhatIsLacking(t *testing.T) {
	tracker := peertest.NewTracker()
	a := tracker.Start(t, "A")
	_, link, content := peertest.SeedRandom(t, a, 192<<20, peer.SeedOptions{})
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := tracker.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, b, link, out)
	peertest.Eventually(t, "some pieces", func() bool { return get.Status().PiecesHave > 10 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if st := get.Status(); st.Phase != peer.Stopped {
		t.Fatalf("phase %s after the close", st.Phase)
	}
	b = tracker.Start(t, "B", peertest.Data(data))
	get, err := b.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	st := get.Status()
	t.Logf("after the restart: %+v of %d", st.Traffic, len(content))
	if st.Traffic.WANIn+10*int64(st.PieceLength) > int64(len(content)) {
		t.Errorf("%d bytes came after the restart, of %d in all", st.Traffic.WANIn, len(content))
	}
}

func TestStopAndGetAgain(t *testing.T) {
	n := peertest.Start(t, "A")
	link, err := proto.ParseLink("magnet:?xt=urn:mob:bafyreihr4z5odw4k2lho2qesjywstoemylhgqxstzr6gb7iwlvvwm6bb7q&dn=nobody")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, n, link, out)
	peertest.Eventually(t, "word of what it waits for", func() bool {
		return strings.Contains(get.Status().Waiting, "no tracker")
	})
	if err := get.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := get.Wait(context.Background()); !errors.Is(err, peer.ErrStopped) {
		t.Errorf("wait after the stop: %v", err)
	}
	again := peertest.Get(t, n, link, out)
	if again != get || again.Status().Phase != peer.Seeking {
		t.Errorf("phase %s after the second get", again.Status().Phase)
	}
	if _, err := n.Get(link, out+"2", peer.GetOptions{}); err == nil {
		t.Error("one content was taken to two places")
	}
	if err := n.Remove(again, true); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Transfer(link.Manifest.String()); !errors.Is(err, peer.ErrUnknownTransfer) {
		t.Errorf("after the removal: %v", err)
	}
}

func TestSeedThatChangesSaysSo(t *testing.T) {
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	path, content := peertest.RandomFile(t, 4<<20)
	seed, err := a.Seed(context.Background(), path, peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The same size and the same time: only the hash tells.
	content[1<<20] ^= 1
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, content, 0o644), os.Chtimes(path, fi.ModTime(), fi.ModTime())); err != nil {
		t.Fatal(err)
	}
	link := seed.Link()
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "the source to notice", func() bool { return seed.Status().Damaged > 0 })
	peertest.Eventually(t, "the rest to arrive", func() bool {
		st := get.Status()
		return st.Pieces > 0 && st.PiecesHave == st.Pieces-1
	})
	if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
		t.Error("the user's file was touched")
	}
	peertest.Eventually(t, "word of what it waits for", func() bool {
		return strings.Contains(get.Status().Waiting, "missing pieces")
	})
}

func TestBadDestinations(t *testing.T) {
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
	for _, path := range []string{dir, file, filepath.Join(dir, "no", "folder"), filepath.Join(file, "under a file")} {
		if _, err := n.Get(link, path, peer.GetOptions{}); err == nil {
			t.Errorf("%s was taken as a destination", path)
		} else {
			t.Log(err)
		}
	}
	if len(n.Transfers()) != 0 {
		t.Error("a refused get left a transfer")
	}
}

func TestOneNodePerFolderAndPort(t *testing.T) {
	data := t.TempDir()
	n := peertest.Start(t, "A", peertest.Data(data))
	var inUse *datadir.InUseError
	cfg := peer.Config{Data: data, Cluster: "A", Listen: []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}}
	if _, err := peer.Start(cfg); !errors.As(err, &inUse) {
		t.Errorf("a second node on the folder: %v", err)
	}
	cfg.Data, cfg.Listen = t.TempDir(), n.Host().Addrs()
	if _, err := peer.Start(cfg); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second node on the port: %v", err)
	}
}

func TestWrongManifestIsRefused(t *testing.T) {
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	seed, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	if err := seed.Description().PublishManifest([]byte("another")); err != nil {
		t.Fatal(err)
	}
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "word of the wrong manifest", func() bool {
		return strings.Contains(get.Status().Waiting, "does not match")
	})
}
