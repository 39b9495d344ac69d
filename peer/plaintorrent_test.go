package peer_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// plain returns the link as a plain torrent, with the info-hash alone.
func plain(link *proto.Link) *proto.Link {
	return &proto.Link{InfoHash: link.InfoHash, Name: link.Name}
}

// TestPlainTorrentOfNode joins the swarm of a seed with a manifest from nodes with the torrent alone.
// They verify with the torrent, and serve with it when the seed has left.
func TestPlainTorrentOfNode(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	a := tracker.Start(t, "A", withTorrents)
	path, content := peertest.RandomFile(t, 5<<20+7)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{Torrent: true})
	get := func(cluster string) *peer.Node {
		out := filepath.Join(t.TempDir(), "out")
		got := peertest.Get(t, tracker.Start(t, cluster, withTorrents), plain(link), out)
		peertest.Wait(t, got)
		peertest.EqualFile(t, out, content)
		if !got.ID.Equals(link.InfoHash.CID()) || !got.Manifest().TorrentOnly() || !bytes.Equal(got.Description().Torrent(), seed.Description().Torrent()) {
			t.Errorf("transfer %s of %v", got.ID, got.Manifest())
		}
		if got.Link().Manifest.Defined() {
			t.Errorf("the link names a manifest: %s", got.Link())
		}
		return got.Node()
	}
	first := get("A")
	get("B")
	get("B")
	for _, n := range []*peer.Node{a, first} {
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	get("C")
}

// TestPlainTorrentSeededAgain seeds the copy of a torrent again as a torrent: nodes with the link to its manifest verify
// with that.
func TestPlainTorrentSeededAgain(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	link, info, content := torrentOnly(t, 1<<20)
	n := startPlain(t, tracker, "A", info, attachClient(content))
	out := filepath.Join(t.TempDir(), link.Name)
	got := peertest.Get(t, n, link, out)
	peertest.Wait(t, got)
	again, full := peertest.Seed(t, n, out, peer.SeedOptions{Torrent: true, PieceLength: 256 << 10})
	if again != got || full.InfoHash != link.InfoHash || !full.Manifest.Defined() {
		t.Fatalf("the link is %s", full)
	}
	late := peertest.Get(t, tracker.Start(t, "C", withTorrents), &proto.Link{Manifest: full.Manifest}, filepath.Join(t.TempDir(), "out"))
	peertest.Wait(t, late)
	peertest.EqualFile(t, late.Status().Root, content)
	if late.Manifest().TorrentOnly() {
		t.Error("a node with a link to the manifest does not verify with it")
	}
}

// startPlain starts a node that gets info dictionaries from BitTorrent clients.
func startPlain(
	t *testing.T, tracker *peertest.Tracker, cluster string, info []byte, opts ...peertest.Option,
) *peer.Node {
	t.Helper()
	return tracker.Start(t, cluster, append(opts, withTorrents, peertest.Configure(func(c *peer.Config) {
		c.Describe = func(context.Context, *proto.Link) ([]byte, error) { return info, nil }
	}))...)
}

// client is a BitTorrent client that has everything, as the swarm sees it.
type client struct {
	attachment *peer.Attachment
	content    []byte
	m          *proto.Manifest
	ended      sync.Once
}

// attachClient attaches a client to every swarm of a node.
func attachClient(content []byte) peertest.Option {
	return peertest.Configure(func(cfg *peer.Config) {
		cfg.AttachExternal = func(ctx context.Context, t *peer.Transfer) {
			a, err := t.Attach()
			if err != nil {
				return
			}
			c := &client{attachment: a, content: content, m: t.Manifest()}
			a.Join(peer.ExternalPeerInfo{ID: "-XX-client", Cluster: "bt-client", Client: "test"}, c)
			a.Send(&proto.Have{Have: []proto.Range{{Count: uint32(c.m.Pieces())}}})
			<-ctx.Done()
		}
	})
}

// Receive implements [peer.ExternalPeer].
func (c *client) Receive(m proto.Message) {
	switch m := m.(type) {
	case *proto.Ping:
		go c.attachment.Send(&proto.Pong{Nonce: m.Nonce})
	case *proto.Request:
		b := payload.GetBuffer(int(m.Length))
		copy(b.B, c.content[c.m.PieceOffset(int(m.Piece))+int64(m.Begin):])
		go c.attachment.Store(m.Span, b)
	}
}

// Close implements [peer.ExternalPeer].
func (c *client) Close(proto.Code, string) {
	c.ended.Do(func() { go c.attachment.Leave(errors.New("closed")) })
}

// torrentOnly returns a plain torrent that no node has.
func torrentOnly(t *testing.T, size int) (link *proto.Link, info, content []byte) {
	t.Helper()
	_, content = peertest.RandomFile(t, size)
	m := &proto.Manifest{
		Name:        "content.bin",
		PieceLength: 256 << 10,
		Entries:     []proto.Entry{{Kind: proto.File, Size: int64(size)}},
	}
	info = torrentOf(m, content)
	return &proto.Link{InfoHash: sha1.Sum(info), Name: m.Name}, info, content
}

// TestPlainTorrentOfClient gets files from a BitTorrent client of one node. All nodes receive them.
func TestPlainTorrentOfClient(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	link, info, content := torrentOnly(t, 4<<20)
	nodes := []*peer.Node{startPlain(t, tracker, "A", info, attachClient(content))}
	for _, cluster := range []string{"A", "B", "B"} {
		nodes = append(nodes, tracker.Start(t, cluster, withTorrents)) // these ask no clients
	}
	var gets []*peer.Transfer
	for _, n := range nodes {
		gets = append(gets, peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out")))
	}
	for _, got := range gets {
		peertest.Wait(t, got)
		peertest.EqualFile(t, got.Status().Root, content)
	}
}

// TestNamedTrackersOfSeed gets a link with other trackers for a file that was seeded: only the trackers that the
// user named count as named, also after a restart.
func TestNamedTrackersOfSeed(t *testing.T) {
	t.Parallel()
	const named, linked = "http://127.0.0.1:6969/announce", "http://127.0.0.1:80/admin"
	tracker, data := peertest.NewTracker(), t.TempDir()
	a := tracker.Start(t, "A", withTorrents, peertest.Data(data))
	path, _ := peertest.RandomFile(t, 1<<20)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{Torrent: true, Announce: []string{named}})
	other := *link
	other.Announce = []string{linked}
	if _, err := a.Get(&other, path, peer.GetOptions{}); err != nil {
		t.Logf("get of a seed: %v", err)
	}
	for range 2 {
		if got := seed.Announce(); !slices.Equal(got, []string{named}) {
			t.Errorf("named trackers %v; the link has %v", got, seed.Link().Announce)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a = tracker.Start(t, "A", withTorrents, peertest.Data(data))
		var err error
		if seed, err = a.Transfer(link.String()); err != nil {
			t.Fatal(err)
		}
	}
	got := peertest.Get(t, tracker.Start(t, "B", withTorrents), link, filepath.Join(t.TempDir(), "out"))
	if named := got.Announce(); len(named) > 0 {
		t.Errorf("named trackers of a get: %v", named)
	}
}

// TestPlainTorrentResumes restarts a node: it fetches only missing pieces, and loads the info
// dictionary from disk.
func TestPlainTorrentResumes(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	gate := peertest.NewGate(6 << 20)
	a := tracker.Start(t, "A", withTorrents, peertest.WithGate(gate))
	path, content := peertest.RandomFile(t, 12<<20)
	_, link := peertest.Seed(t, a, path, peer.SeedOptions{Torrent: true})
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := tracker.Start(t, "B", peertest.Data(data), withTorrents)
	got := peertest.Get(t, b, plain(link), out)
	peertest.Eventually(t, "some pieces", func() bool { return got.Status().PiecesHave > 10 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	b = tracker.Start(t, "B", peertest.Data(data), withTorrents)
	got, err := b.Transfer(plain(link).String())
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, got)
	peertest.EqualFile(t, out, content)
	st := got.Status()
	if st.Traffic.WANIn-st.Duplicate+10*int64(st.PieceLength) > int64(len(content)) {
		t.Errorf("%d bytes received after the restart, of %d in all", st.Traffic.WANIn, len(content))
	}

	// The next start needs no peer.
	if err := errors.Join(b.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	b = peertest.Start(t, "B", peertest.Data(data), withTorrents)
	if got, err = b.Transfer(plain(link).String()); err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, got)
}

// serveInfo serves an info dictionary from a host that is not a node, and returns its addresses.
func serveInfo(t *testing.T, info []byte) []ma.Multiaddr {
	t.Helper()
	h := peertest.Stranger(t)
	h.SetStreamHandler(proto.TorrentProtocol, func(s network.Stream) {
		metadata.NewServer().Serve(s, func([]byte) []byte { return info })
	})
	return peertest.LinkAddrs(t, h)
}

// TestWrongInfoDictionary serves info dictionaries that do not have the info-hash, which are
// dropped, or that have it and are invalid: that ends the transfer, since there is no other.
func TestWrongInfoDictionary(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	a, b := tracker.Start(t, "A", withTorrents), tracker.Start(t, "B", withTorrents)
	path, content := peertest.RandomFile(t, 1<<20)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{Torrent: true})
	wrong := plain(link)
	wrong.Peers = serveInfo(t, slices.Concat(seed.Description().Torrent(), []byte{' '}))
	out := filepath.Join(t.TempDir(), "out")
	other := peer.GetOptions{Torrent: slices.Concat(seed.Description().Torrent(), []byte{' '})}
	if _, err := b.Get(wrong, out, other); err == nil || !strings.Contains(err.Error(), "the link's info-hash") {
		t.Errorf("a dictionary with another info-hash: %v", err)
	}
	got := peertest.Get(t, b, wrong, out)
	peertest.Wait(t, got)
	peertest.EqualFile(t, out, content)

	bad := []byte(`{"Name":"..","PieceLength":262144,"Length":1,"Sums":"AAAAAAAAAAAAAAAAAAAAAAAAAAA="}`)
	invalid := &proto.Link{InfoHash: sha1.Sum(bad), Peers: serveInfo(t, bad)}
	failed := peertest.Get(t, b, invalid, filepath.Join(t.TempDir(), "out"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := failed.Wait(ctx); err == nil || !strings.Contains(err.Error(), `".." is not a file name`) {
		t.Errorf("an invalid dictionary: %v", err)
	}
	out = filepath.Join(t.TempDir(), "out")
	if _, err := b.Get(invalid, out, peer.GetOptions{Torrent: bad}); err == nil || !strings.Contains(err.Error(), "is not a file name") {
		t.Errorf("an invalid dictionary in the options: %v", err)
	}
}

// TestOneTransferByAllNames gets files by info-hash and by manifest: both are one
// transfer, which is found by every name.
func TestOneTransferByAllNames(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	a := tracker.Start(t, "A", withTorrents)
	path, content := peertest.RandomFile(t, 2<<20)
	seed, link := peertest.Seed(t, a, path, peer.SeedOptions{Torrent: true, Announce: []string{"http://192.0.2.1/announce"}})
	for name, links := range map[string][2]*proto.Link{
		"torrent first": {plain(link), link},
		"link first":    {link, plain(link)},
	} {
		t.Run(name, func(t *testing.T) {
			n, out := tracker.Start(t, "B", withTorrents), filepath.Join(t.TempDir(), "out")
			first, second := peertest.Get(t, n, links[0], out), peertest.Get(t, n, links[1], out)
			if first != second || len(n.Transfers()) != 1 {
				t.Fatalf("%d transfers", len(n.Transfers()))
			}
			peertest.Wait(t, second)
			peertest.EqualFile(t, out, content)
			if got := second.Link(); got.InfoHash != link.InfoHash || len(got.Announce) != 1 {
				t.Errorf("the link is %s", got)
			}
			names := []string{link.String(), plain(link).String(), seed.ID.String(), link.InfoHash.CID().String(), out}
			for _, name := range names {
				if got, err := n.Transfer(name); got != second {
					t.Errorf("by %s: %v", name, err)
				}
			}
			if _, err := n.Remove(second, true); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestPlainTorrentWithoutPeers waits for the info dictionary of a torrent: the status says that
// BitTorrent clients are not asked.
func TestPlainTorrentWithoutPeers(t *testing.T) {
	t.Parallel()
	link, info, _ := torrentOnly(t, 1<<20)
	n := peertest.Start(t, "A", withTorrents)
	got := peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "word of what it waits for", func() bool {
		waiting := got.Status().Waiting
		return strings.Contains(waiting, "info dictionary") && strings.Contains(waiting, "--bt-listen")
	})
	if _, err := n.Remove(got, true); err != nil {
		t.Fatal(err)
	}
	got, err := n.Get(link, filepath.Join(t.TempDir(), "out"), peer.GetOptions{Torrent: info})
	if err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "word of peers", func() bool {
		return strings.Contains(got.Status().Waiting, "peers") && strings.Contains(got.Status().Waiting, "--bt-listen")
	})
	if st := got.Status(); st.Length != 1<<20 || st.InfoHash != link.InfoHash.String() {
		t.Errorf("status %+v", st)
	}
}
