package peer_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// fakeTorrents makes info dictionaries of single files in JSON.
type fakeTorrents struct{}

type fakeInfo struct {
	Name        string
	PieceLength uint32
	Length      int64
	Sums        []byte
}

func (fakeTorrents) Build(m *proto.Manifest, sums []byte) ([]byte, error) {
	if m.Length() == 0 {
		return nil, errors.New("nothing to offer")
	}
	return json.Marshal(fakeInfo{m.Name, m.PieceLength, m.Length(), sums})
}

func (f fakeTorrents) Check(m *proto.Manifest, info []byte) error {
	of, err := f.Manifest(info)
	if err == nil && (of.Name != m.Name || of.PieceLength != m.PieceLength || of.Length() != m.Length()) {
		err = errors.New("not of this content")
	}
	return err
}

func (fakeTorrents) Manifest(info []byte) (*proto.Manifest, error) {
	var f fakeInfo
	if err := json.Unmarshal(info, &f); err != nil {
		return nil, err
	}
	m := &proto.Manifest{Name: f.Name, PieceLength: f.PieceLength, SHA1: f.Sums,
		Entries: []proto.Entry{{Kind: proto.File, Size: f.Length, Mode: 0o644, MTime: proto.NoMTime}}}
	return m, m.Validate()
}

// torrentOf returns the info dictionary that fakeTorrents makes of a file.
func torrentOf(m *proto.Manifest, content []byte) []byte {
	var sums []byte
	for i := range m.Pieces() {
		sum := sha1.Sum(content[m.PieceOffset(i):][:m.PieceSize(i)])
		sums = append(sums, sum[:]...)
	}
	info, err := fakeTorrents{}.Build(m, sums)
	if err != nil {
		panic(err)
	}
	return info
}

// withTorrents lets a node make and fetch torrents.
var withTorrents = peertest.Configure(func(c *peer.Config) { c.Torrents = fakeTorrents{} })

func torrentPath(t *peer.Transfer) string { return filepath.Join(t.Dir(), metadata.TorrentFile) }

// TestTorrentReachesMembers passes an info dictionary from member to member, over a restart.
func TestTorrentReachesMembers(t *testing.T) {
	t.Parallel()
	a, dir := peertest.Start(t, "A", withTorrents), t.TempDir()
	path, content := peertest.RandomFile(t, 3<<20)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{Torrent: true, Announce: []string{"http://a/announce"}})
	info := torrentOf(seed.Manifest(), content)
	if link.InfoHash != sha1.Sum(info) || len(link.Announce) != 1 || !bytes.Equal(seed.Description().Torrent(), info) {
		t.Fatalf("the seed has %x, the link is %v", seed.Description().Torrent(), link)
	}
	b := peertest.Start(t, "B", peertest.Data(dir), withTorrents)
	out := filepath.Join(t.TempDir(), "out")
	got := peertest.Get(t, b, link, out)
	peertest.Wait(t, got)
	peertest.Eventually(t, "the getter has the info dictionary", func() bool { return bytes.Equal(got.Description().Torrent(), info) })
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}

	b = peertest.Start(t, "B", peertest.Data(dir), withTorrents) // alone
	got = peertest.Get(t, b, link, out)
	peertest.Wait(t, got)
	if !bytes.Equal(got.Description().Torrent(), info) {
		t.Errorf("after a restart it has %x", got.Description().Torrent())
	}
	c := peertest.Start(t, "C", withTorrents)
	link.Peers = b.Addrs()
	last := peertest.Get(t, c, link, filepath.Join(t.TempDir(), "out"))
	peertest.Wait(t, last)
	peertest.Eventually(t, "the next getter has it", func() bool { return bytes.Equal(last.Description().Torrent(), info) })
}

// TestOfferedLater offers transfers to BitTorrent clients that were seeded or fetched before. They
// stay offered when they are seeded again without the option.
func TestOfferedLater(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A", withTorrents), peertest.Start(t, "B", withTorrents)
	path, content := peertest.RandomFile(t, 2<<20)
	plain, link := peertest.Seed(t, a, path, peer.SeedOptions{})
	if !plain.Link().InfoHash.IsZero() || plain.Description().Torrent() != nil || plain.Status().InfoHash != "" {
		t.Fatal("offered without being asked for")
	}
	if _, err := os.Stat(torrentPath(plain)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an info dictionary is on disk: %v", err)
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(path))
	peertest.Wait(t, peertest.Get(t, b, link, copied))
	for _, at := range []struct {
		n    *peer.Node
		path string
	}{{a, path}, {a, copied}, {b, copied}, {b, path}} {
		for _, opt := range []peer.SeedOptions{{Torrent: true}, {}} {
			tr, link := peertest.Seed(t, at.n, at.path, opt)
			if tr.ID != plain.ID {
				t.Fatalf("other content: %v", link)
			}
			info := torrentOf(plain.Manifest(), content)
			hash := link.InfoHash
			if !bytes.Equal(tr.Description().Torrent(), info) || hash != sha1.Sum(info) || tr.Status().InfoHash != hash.String() {
				t.Errorf("%s at %s, %+v: the torrent is %x", at.n.Cluster(), at.path, opt, tr.Description().Torrent())
			}
		}
	}
}

func TestTorrentRejected(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A", withTorrents), peertest.Start(t, "B", withTorrents)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := a.Seed(t.Context(), empty, peer.SeedOptions{Torrent: true})
	if err == nil || !strings.Contains(err.Error(), "nothing to offer") {
		t.Errorf("nothing is offered: %v", err)
	}
	// A node rejects requests for the info dictionary of content that is not offered.
	plain, _, _ := peertest.SeedRandom(t, a, 2<<20, peer.SeedOptions{})
	if err := b.Host().Connect(t.Context(), peertest.AddrInfo(a)); err != nil {
		t.Fatal(err)
	}
	stream, err := b.Host().NewStream(t.Context(), a.Host().ID(), proto.TorrentProtocol)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Reset()
	if err := proto.WriteMessage(stream, &proto.ManifestRequest{Swarm: plain.ID.Bytes()}); err != nil {
		t.Fatal(err)
	}
	m, err := proto.ReadOpening(stream)
	if bye, ok := m.(*proto.Goodbye); !ok || bye.Code != proto.CodeUnknownSwarm {
		t.Errorf("of content that is not offered: %+v, %v", m, err)
	}
}

// TestTorrentOfAnotherContent gets a link with the info-hash of other content, whose info
// dictionary a peer serves. The content is fetched, and the dictionary rejected.
func TestTorrentOfAnotherContent(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A", withTorrents), peertest.Start(t, "B", withTorrents)
	_, link, content := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	lie := []byte("a lie")
	h := peertest.Stranger(t)
	asked := make(chan struct{}, 100)
	h.SetStreamHandler(proto.TorrentProtocol, func(s network.Stream) {
		metadata.NewServer().Serve(s, func([]byte) []byte { return lie })
		asked <- struct{}{}
	})
	link.InfoHash, link.Peers = sha1.Sum(lie), append(link.Peers, peertest.LinkAddrs(t, h)...)
	out := filepath.Join(t.TempDir(), "out")
	got := peertest.Get(t, b, link, out)
	peertest.Wait(t, got)
	peertest.EqualFile(t, out, content)
	<-asked
	<-asked // the first reply was handled before the second request
	if got.Description().Torrent() != nil {
		t.Errorf("accepted: %q", got.Description().Torrent())
	}
}
