package bittorrent

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// sample is content with its torrent.
type sample struct {
	path     string
	data     []byte
	manifest *proto.Manifest
	encoded  []byte
	meta     *metainfo.Torrent
}

func newSample(t testing.TB, size int) *sample {
	t.Helper()
	s := &sample{path: filepath.Join(t.TempDir(), "content.bin"), data: make([]byte, size)}
	_, _ = rand.NewChaCha8([32]byte{1}).Read(s.data) // never fails
	if err := os.WriteFile(s.path, s.data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.scan(t)
	return s
}

// scan makes the documents of the sample.
func (s *sample) scan(t testing.TB) {
	t.Helper()
	m, sums, err := store.ScanSHA1(context.Background(), s.path, store.ScanOptions{})
	if err == nil {
		s.manifest = m
		s.encoded, err = m.Encode()
	}
	if err == nil {
		s.meta, err = metainfo.Build(m, sums)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *sample) link() *proto.Link {
	return &proto.Link{Manifest: proto.ManifestCID(s.encoded), Name: s.manifest.Name, Length: s.manifest.Length()}
}

// node is a mob node that accepts BitTorrent clients.
type node struct {
	*peer.Node
	server *Server
	data   string
}

// startNode starts a node with the torrent of any of its transfers.
func startNode(t testing.TB, cluster string, torrent *Torrent, upload int64) *node {
	t.Helper()
	return startNodeAt(t, "127.0.0.1:0", cluster, torrent, upload)
}

// startNodeAt is startNode with the address at which clients connect.
func startNodeAt(t testing.TB, listen, cluster string, torrent *Torrent, upload int64) *node {
	t.Helper()
	level := slog.LevelWarn
	if testing.Verbose() {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("node", cluster)
	s, err := Listen(Config{
		Listen:  listen,
		Upload:  upload,
		Torrent: func(*peer.Transfer) *Torrent { return torrent },
		Client:  "mob test",
		Dial:    new(net.Dialer).DialContext, // to loopback, too
		Log:     log,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{server: s, data: t.TempDir()}
	tuning := mob.DefaultTuning()
	tuning.Settle = 100 * time.Millisecond // a node without neighbors need not wait for their claims
	tuning.Stall = time.Minute             // a client of a busy machine is not asked for a block twice
	n.Node, err = peer.Start(peer.Config{
		Data:           n.data,
		Cluster:        cluster,
		Listen:         []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")},
		AttachExternal: s.Attach,
		Tuning:         tuning,
		Log:            log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// seed serves the sample.
func (n *node) seed(t testing.TB, s *sample) *peer.Transfer {
	t.Helper()
	tr, err := n.Seed(context.Background(), s.path, peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.waitAttached(t, tr)
	return tr
}

// waitAttached waits until the server accepts clients of a transfer, if it has a torrent.
func (n *node) waitAttached(t testing.TB, tr *peer.Transfer) {
	t.Helper()
	if torrent := n.server.cfg.Torrent(tr); torrent != nil {
		eventually(t, "clients are accepted", func() bool {
			n.server.mu.Lock()
			defer n.server.mu.Unlock()
			return n.server.managers[torrent.Hash] != nil
		})
	}
}

// get starts a download of the sample, whose manifest the node has.
func (n *node) get(t testing.TB, s *sample) (tr *peer.Transfer, out string) {
	t.Helper()
	dir := filepath.Join(n.data, "transfers", s.link().Manifest.String())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest"), s.encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(t.TempDir(), "out")
	tr, err := n.Get(s.link(), out, peer.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.waitAttached(t, tr)
	return tr, out
}

func mustWait(t testing.TB, tr *peer.Transfer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := tr.Wait(ctx); err != nil {
		t.Fatalf("%v: %+v", err, tr.Status())
	}
}

func mustEqual(t testing.TB, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs", path)
	}
}

func (s *sample) torrent() *Torrent {
	return &Torrent{Hash: proto.InfoHash(s.meta.Hash), Info: func() []byte { return s.meta.Info }}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout: %s", what)
		}
	}
}
