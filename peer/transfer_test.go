package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// eventually polls until ok, or fails the test with what.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("timeout: ", what)
}

func TestSmallContents(t *testing.T) {
	a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	for _, size := range []int{0, 1, 256 << 10, 256<<10 + 1, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			_, link, content := seedAndLink(t, a, size)
			out := filepath.Join(t.TempDir(), "out")
			mustWait(t, mustGet(t, b, link, out))
			mustEqual(t, out, content)
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
	a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	seed, err := a.Seed(context.Background(), src, SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	link := seed.Link()
	out := filepath.Join(t.TempDir(), "out")
	mustWait(t, mustGet(t, b, link, out))
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
	d := newDirectory()
	a := startNodeWith(t, "A", t.TempDir(), d)
	_, link, content := seedAndLink(t, a, 192<<20)
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := startNodeWith(t, "B", data, d)
	get := mustGet(t, b, link, out)
	eventually(t, "some pieces", func() bool { return get.Status().PiecesHave > 10 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if st := get.Status(); st.Phase != Stopped {
		t.Fatalf("phase %s after the close", st.Phase)
	}
	b = startNodeWith(t, "B", data, d)
	get, err := b.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	mustWait(t, get)
	mustEqual(t, out, content)
	st := get.Status()
	t.Logf("after the restart: %+v of %d", st.Traffic, len(content))
	if st.Traffic.WANIn+10*int64(st.PieceLength) > int64(len(content)) {
		t.Errorf("%d bytes came after the restart, of %d in all", st.Traffic.WANIn, len(content))
	}
}

func TestStopAndGetAgain(t *testing.T) {
	n := startNode(t, "A", t.TempDir())
	link, err := proto.ParseLink("magnet:?xt=urn:mob:bafyreihr4z5odw4k2lho2qesjywstoemylhgqxstzr6gb7iwlvvwm6bb7q&dn=nobody")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	get := mustGet(t, n, link, out)
	eventually(t, "word of what it waits for", func() bool {
		return strings.Contains(get.Status().Waiting, "no tracker")
	})
	if err := get.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := get.Wait(context.Background()); !errors.Is(err, ErrStopped) {
		t.Errorf("wait after the stop: %v", err)
	}
	again := mustGet(t, n, link, out)
	if again != get || again.Status().Phase != Seeking {
		t.Errorf("phase %s after the second get", again.Status().Phase)
	}
	if _, err := n.Get(link, out+"2", GetOptions{}); err == nil {
		t.Error("one content was taken to two places")
	}
	if err := n.Remove(again, true); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Transfer(link.Manifest.String()); !errors.Is(err, ErrUnknownTransfer) {
		t.Errorf("after the removal: %v", err)
	}
}

func TestSeedThatChangesSaysSo(t *testing.T) {
	a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	path, content := randomFile(t, 4<<20)
	seed, err := a.Seed(context.Background(), path, SeedOptions{})
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
	get := mustGet(t, b, link, filepath.Join(t.TempDir(), "out"))
	eventually(t, "the source to notice", func() bool { return seed.Status().Damaged > 0 })
	eventually(t, "the rest to arrive", func() bool {
		st := get.Status()
		return st.Pieces > 0 && st.PiecesHave == st.Pieces-1
	})
	if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
		t.Error("the user's file was touched")
	}
	eventually(t, "word of what it waits for", func() bool {
		return strings.Contains(get.Status().Waiting, "missing pieces")
	})
}

func TestBadDestinations(t *testing.T) {
	n := startNode(t, "A", t.TempDir())
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
		if _, err := n.Get(link, path, GetOptions{}); err == nil {
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
	n := startNode(t, "A", data)
	var inUse *datadir.InUseError
	cfg := Config{Data: data, Cluster: "A", Listen: []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}}
	if _, err := Start(cfg); !errors.As(err, &inUse) {
		t.Errorf("a second node on the folder: %v", err)
	}
	cfg.Data, cfg.Listen = t.TempDir(), n.Host().Addrs()
	if _, err := Start(cfg); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second node on the port: %v", err)
	}
}

func TestWrongManifestIsRefused(t *testing.T) {
	a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	seed, link, _ := seedAndLink(t, a, 1<<20)
	if err := seed.Description().PublishManifest([]byte("another")); err != nil {
		t.Fatal(err)
	}
	get := mustGet(t, b, link, filepath.Join(t.TempDir(), "out"))
	eventually(t, "word of the wrong manifest", func() bool {
		return strings.Contains(get.Status().Waiting, "does not match")
	})
}
