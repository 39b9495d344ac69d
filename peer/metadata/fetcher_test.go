package metadata

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/goleak"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newHost(t *testing.T) host.Host {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// member serves documents by content id.
type member struct {
	host.Host
	documents map[cid.Cid][]byte

	mu        sync.Mutex
	requested []cid.Cid
}

func newMember(t *testing.T, id protocol.ID, documents map[cid.Cid][]byte) *member {
	t.Helper()
	m := &member{Host: newHost(t), documents: documents}
	server := NewServer()
	m.SetStreamHandler(id, func(s network.Stream) { server.Serve(s, m.find) })
	return m
}

func (m *member) find(id []byte) []byte {
	key, err := cid.Cast(id)
	if err != nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requested = append(m.requested, key)
	return m.documents[key]
}

// p2pAddrs returns the addresses of a host for a link.
func p2pAddrs(t *testing.T, h host.Host) []ma.Multiaddr {
	t.Helper()
	addrs, err := peer.AddrInfoToP2pAddrs(&peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	return addrs
}

// newFetcher returns a fetcher with a separate host.
func newFetcher(t *testing.T, link *proto.Link) *Fetcher {
	t.Helper()
	h := newHost(t)
	return &Fetcher{
		Link:        link,
		Description: NewDescription("", link.Keys()[0], link, fakeTorrents{}),
		Self:        h.ID(),
		Announce:    proto.Announce{Cluster: "A"},
		OpenStream: func(ctx context.Context, info peer.AddrInfo, id protocol.ID) (network.Stream, error) {
			if err := h.Connect(ctx, info); err != nil {
				return nil, err
			}
			return h.NewStream(ctx, info.ID, id)
		},
		Status: func(string) {},
		Log:    slog.New(slog.DiscardHandler),
	}
}

// A member that does not know the first key of the content is asked for the next. The
// search goes on after an invalid manifest.
func TestFetchByEachKey(t *testing.T) {
	m := &proto.Manifest{Name: "a", PieceLength: proto.MinPieceLength, Entries: []proto.Entry{}, Hashes: []byte{}}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	link := &proto.Link{Manifest: proto.ManifestCID(b), InfoHash: proto.InfoHash{1}}
	liar := newMember(t, proto.ManifestProtocol, map[cid.Cid][]byte{link.Manifest: []byte("invalid")})
	honest := newMember(t, proto.ManifestProtocol, map[cid.Cid][]byte{link.InfoHash.CID(): b})
	link.Peers = slices.Concat(p2pAddrs(t, liar), p2pAddrs(t, honest))
	f := newFetcher(t, link)
	if _, err := f.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.Description.EncodedManifest(); !bytes.Equal(got, b) {
		t.Errorf("fetched %q", got)
	}
	if want := []cid.Cid{link.Manifest}; !slices.Equal(liar.requested, want) {
		t.Errorf("the malicious member was asked for %v, want %v", liar.requested, want)
	}
	if want := link.Keys(); !slices.Equal(honest.requested, want) {
		t.Errorf("the other member was asked for %v, want %v", honest.requested, want)
	}
}

// The info dictionary comes from members or from BitTorrent clients, whoever has it.
func TestFetchPlainTorrent(t *testing.T) {
	info := []byte("name")
	hash := proto.InfoHash(sha1.Sum(info))
	with := newMember(t, proto.TorrentProtocol, map[cid.Cid][]byte{hash.CID(): info})
	without := newMember(t, proto.TorrentProtocol, nil)
	silent := func(ctx context.Context, _ *proto.Link) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	honest := func(context.Context, *proto.Link) ([]byte, error) { return info, nil }
	lying := func(context.Context, *proto.Link) ([]byte, error) { return []byte("invalid"), nil }
	for name, tt := range map[string]struct {
		member  *member
		clients func(context.Context, *proto.Link) ([]byte, error)
	}{
		"member":                       {with, nil},
		"member and silent clients":    {with, silent},
		"member and malicious clients": {with, lying},
		"clients":                      {without, honest},
		"member and clients":           {with, honest},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t, &proto.Link{InfoHash: hash, Peers: p2pAddrs(t, tt.member)})
			f.Clients = tt.clients
			if _, err := f.Fetch(t.Context()); err != nil || !bytes.Equal(f.Description.Torrent(), info) {
				t.Errorf("fetched %q, %v", f.Description.Torrent(), err)
			}
		})
	}
}

// TestFetchTorrent checks that an info dictionary beside a manifest comes from members. BitTorrent clients are connected to the
// swarm, which would lose them to a search.
func TestFetchTorrent(t *testing.T) {
	b, id := encoded(t, "name")
	link := &proto.Link{Manifest: id, InfoHash: hashOf("name")}
	link.Peers = p2pAddrs(t, newMember(t, proto.TorrentProtocol, map[cid.Cid][]byte{id: []byte("name")}))
	f := newFetcher(t, link)
	f.Clients = func(context.Context, *proto.Link) ([]byte, error) {
		t.Error("BitTorrent clients were asked")
		return nil, errors.New("none")
	}
	if err := f.Description.Set(ManifestFile, b); err != nil {
		t.Fatal(err)
	}
	f.FetchTorrent(t.Context(), func() []peer.AddrInfo { return nil }, nil)
	if got := f.Description.Torrent(); string(got) != "name" {
		t.Errorf("fetched %q", got)
	}
}

// An invalid info dictionary with the right info-hash ends the fetch.
func TestFetchInvalidTorrent(t *testing.T) {
	info := []byte("..")
	hash := proto.InfoHash(sha1.Sum(info))
	m := newMember(t, proto.TorrentProtocol, map[cid.Cid][]byte{hash.CID(): info})
	fromMember := newFetcher(t, &proto.Link{InfoHash: hash, Peers: p2pAddrs(t, m)})
	fromClients := newFetcher(t, &proto.Link{InfoHash: hash})
	fromClients.Clients = func(context.Context, *proto.Link) ([]byte, error) { return info, nil }
	for name, f := range map[string]*Fetcher{"member": fromMember, "clients": fromClients} {
		if _, err := f.Fetch(t.Context()); !isFinal(err) {
			t.Errorf("from %s: %v, want a finalError", name, err)
		}
	}
}

func TestFetchStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		link    *proto.Link
		finder  Finder
		clients bool
		want    string
	}{
		"content": {
			&proto.Link{Manifest: proto.ManifestCID(nil)}, nil, false,
			"looking for the content: the link names no tracker; no known peer has the content",
		},
		"torrent": {
			&proto.Link{InfoHash: proto.InfoHash{1}}, &fakeFinder{}, false,
			"looking for the torrent's info dictionary: the tracker knows 0 other nodes; " +
				"no known peer has the content; none is asked",
		},
		"torrent from clients": {
			&proto.Link{InfoHash: proto.InfoHash{1}}, &fakeFinder{err: errors.New("no tracker answers")}, true,
			"looking for the torrent's info dictionary: no tracker answers; no known peer has the content",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			f := newFetcher(t, tt.link)
			f.Finder = tt.finder
			if !tt.clients {
				f.NotAsked = func() string { return "; none is asked" }
			}
			if tt.clients {
				f.Clients = func(context.Context, *proto.Link) ([]byte, error) { return nil, errors.New("none") }
			}
			last := ""
			f.Status = func(text string) {
				last = text
				if strings.Contains(text, ";") {
					cancel()
				}
			}
			if _, err := f.Fetch(ctx); !errors.Is(err, context.Canceled) || last != tt.want {
				t.Errorf("%v, status %q, want %q", err, last, tt.want)
			}
		})
	}
}

// The first candidate is a local member with a smaller id, the second the link's peer.
// Members of other clusters come last.
func TestCandidates(t *testing.T) {
	source := newHost(t)
	f := newFetcher(t, &proto.Link{Manifest: proto.ManifestCID(nil), Peers: p2pAddrs(t, source)})
	id := func(name string) peer.ID { return peer.ID("\x00\x01" + name) } // a multihash
	f.Self = id("m")
	var members []proto.Member
	for _, name := range strings.Split("abxyzm", "") {
		members = append(members, proto.Member{ID: proto.PeerID(id(name)), Cluster: "A"})
	}
	members = append(members, proto.Member{ID: proto.PeerID(id("f")), Cluster: "B"})
	orders := map[string]bool{}
	for range 100 {
		var names []string
		for _, info := range f.candidates(members) {
			name := "s"
			if info.ID != source.ID() {
				name = string(info.ID[2:])
			}
			names = append(names, name)
		}
		order := strings.Join(names, "")
		orders[order] = true
		slices.Sort(names)
		if all := strings.Join(names, ""); all != "abfsxyz" {
			t.Fatalf("candidates %s, want abfsxyz", all)
		}
		smaller := func(s string) bool { return s == "a" || s == "b" }
		if !smaller(order[:1]) || order[1] != 's' || !smaller(order[2:3]) || order[6] != 'f' {
			t.Fatalf("order %s", order)
		}
	}
	if len(orders) < 2 {
		t.Error("the order is not random")
	}
}

// farFinder is a tracker that takes a while, and knows a member from the second announce on.
type farFinder struct {
	Finder
	asked  atomic.Int32
	member proto.Member
}

func (f *farFinder) Announce(ctx context.Context, _ *proto.Announce) (*proto.AnnounceReply, error) {
	time.Sleep(2 * farTracker)
	h := &proto.AnnounceReply{}
	if f.asked.Add(1) > 1 {
		h.Members = []proto.Member{f.member}
	}
	return h, ctx.Err()
}

// Far trackers are asked again immediately, and the members that they name then are met before the manifest
// has come.
func TestMeetMembers(t *testing.T) {
	m := &proto.Manifest{Name: "a", PieceLength: proto.MinPieceLength, Entries: []proto.Entry{}, Hashes: []byte{}}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	link := &proto.Link{Manifest: proto.ManifestCID(b)}
	source := newMember(t, proto.ManifestProtocol, map[cid.Cid][]byte{link.Manifest: b})
	member := proto.Member{ID: proto.PeerID(source.ID()), Cluster: "B"}
	for _, a := range source.Addrs() {
		member.Addrs = append(member.Addrs, a.Bytes())
	}
	f := newFetcher(t, link)
	f.Finder = &farFinder{member: member}
	early := false
	f.Meet = func(members []proto.Member) {
		early = early || f.Description.Manifest() == nil && len(members) == 1 && members[0].ID == member.ID
	}
	members, err := f.Fetch(t.Context())
	if err != nil || len(members) != 1 {
		t.Errorf("%d members, %v", len(members), err)
	}
	if !early {
		t.Error("the member was not met before the manifest came")
	}
}
