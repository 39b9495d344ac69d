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
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

func newHost(t *testing.T) libhost.Host {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// member answers questions for the documents that it knows, by their names.
type member struct {
	libhost.Host
	docs map[cid.Cid][]byte

	mu    sync.Mutex
	asked []cid.Cid
}

func newMember(t *testing.T, kind protocol.ID, docs map[cid.Cid][]byte) *member {
	t.Helper()
	m := &member{Host: newHost(t), docs: docs}
	m.SetStreamHandler(kind, func(s network.Stream) {
		ServeDocument(s, func(id []byte) ([]byte, error) {
			key, err := cid.Cast(id)
			if err != nil {
				return nil, err
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.asked = append(m.asked, key)
			if b := m.docs[key]; b != nil {
				return b, nil
			}
			return nil, errors.New("not here")
		})
	})
	return m
}

// at is where the member is, for a link.
func (m *member) at(t *testing.T) []ma.Multiaddr {
	t.Helper()
	addrs, err := libpeer.AddrInfoToP2pAddrs(&libpeer.AddrInfo{ID: m.ID(), Addrs: m.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	return addrs
}

// seeker seeks from a host of its own.
func seeker(t *testing.T, link *proto.Link) *Fetcher {
	t.Helper()
	h := newHost(t)
	return &Fetcher{Link: link, Description: NewDescription("", link.Keys()[0], link.InfoHash, names{}), Self: h.ID(),
		Announce: proto.Announce{Cluster: "A"}, Status: func(string) {}, Log: slog.New(slog.DiscardHandler),
		OpenStream: func(ctx context.Context, info libpeer.AddrInfo, kind protocol.ID) (network.Stream, error) {
			if err := h.Connect(ctx, info); err != nil {
				return nil, err
			}
			return h.NewStream(ctx, info.ID, kind)
		}}
}

// A member that does not know the content by the first of its names is asked by the
// next, and one that lies is not the last.
func TestAskedByEachName(t *testing.T) {
	m := &proto.Manifest{Name: "a", PieceLength: proto.MinPieceLength, Entries: []proto.Entry{}, Hashes: []byte{}}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	link := &proto.Link{Manifest: proto.ManifestCID(b), InfoHash: proto.InfoHash{1}}
	liar := newMember(t, proto.ManifestProtocol, map[cid.Cid][]byte{link.Manifest: []byte("a lie")})
	honest := newMember(t, proto.ManifestProtocol, map[cid.Cid][]byte{link.InfoHash.CID(): b})
	link.Peers = slices.Concat(liar.at(t), honest.at(t))
	s := seeker(t, link)
	if _, err := s.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Description.EncodedManifest(); !bytes.Equal(got, b) {
		t.Errorf("found %q, %v", got, err)
	}
	if want := []cid.Cid{link.Manifest}; !slices.Equal(liar.asked, want) {
		t.Errorf("the liar was asked for %v, want %v", liar.asked, want)
	}
	if want := link.Keys(); !slices.Equal(honest.asked, want) {
		t.Errorf("the other was asked for %v, want %v", honest.asked, want)
	}
}

// An info dictionary comes from members or from BitTorrent clients, whoever has it.
func TestTorrentFromEverywhere(t *testing.T) {
	info := []byte("name")
	hash := proto.InfoHash(sha1.Sum(info))
	has := newMember(t, proto.TorrentProtocol, map[cid.Cid][]byte{hash.CID(): info})
	hasNot := newMember(t, proto.TorrentProtocol, nil)
	silent := func(ctx context.Context, _ *proto.Link) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	knows := func(context.Context, *proto.Link) ([]byte, error) { return info, nil }
	lies := func(context.Context, *proto.Link) ([]byte, error) { return []byte("a lie"), nil }
	for name, tt := range map[string]struct {
		from   *member
		guests func(context.Context, *proto.Link) ([]byte, error)
	}{
		"a member": {has, nil}, "a member beside silence": {has, silent}, "a member beside lies": {has, lies},
		"guests": {hasNot, knows}, "both": {has, knows},
	} {
		t.Run(name, func(t *testing.T) {
			s := seeker(t, &proto.Link{InfoHash: hash, Peers: tt.from.at(t)})
			s.Clients = tt.guests
			if _, err := s.Fetch(t.Context()); err != nil || !bytes.Equal(s.Description.Torrent(), info) {
				t.Errorf("found %q, %v", s.Description.Torrent(), err)
			}
		})
	}
}

// One that is the right one and of no use ends the search.
func TestTorrentOfNoUse(t *testing.T) {
	info := []byte("..")
	hash := proto.InfoHash(sha1.Sum(info))
	has := newMember(t, proto.TorrentProtocol, map[cid.Cid][]byte{hash.CID(): info})
	knows := func(context.Context, *proto.Link) ([]byte, error) { return info, nil }
	for name, s := range map[string]*Fetcher{
		"of a member": seeker(t, &proto.Link{InfoHash: hash, Peers: has.at(t)}),
		"of guests":   seeker(t, &proto.Link{InfoHash: hash}),
	} {
		if name == "of guests" {
			s.Clients = knows
		}
		_, err := s.Fetch(t.Context())
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is waited for is told, and who is not asked.
func TestNotes(t *testing.T) {
	for name, tt := range map[string]struct {
		link   *proto.Link
		finder Finder
		guests bool
		want   string
	}{
		"content": {&proto.Link{Manifest: proto.ManifestCID(nil)}, nil, false,
			"looking for the content: the link names no tracker; nobody is known who has the content"},
		"torrent": {&proto.Link{InfoHash: proto.InfoHash{1}}, &finder{}, false,
			"looking for the torrent's info dictionary: the tracker knows 0 other nodes; nobody is known who has the content" + ClientsNotAsked},
		"with clients": {&proto.Link{InfoHash: proto.InfoHash{1}}, &finder{err: errors.New("no tracker answers")}, true,
			"looking for the torrent's info dictionary: no tracker answers; nobody is known who has the content"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := seeker(t, tt.link)
			s.Finder = tt.finder
			if tt.guests {
				s.Clients = func(context.Context, *proto.Link) ([]byte, error) { return nil, errors.New("none") }
			}
			last := ""
			s.Status = func(what string) {
				if last = what; strings.Contains(what, ";") {
					cancel()
				}
			}
			if _, err := s.Fetch(ctx); !errors.Is(err, context.Canceled) || last != tt.want {
				t.Errorf("%v, told %q, want %q", err, last, tt.want)
			}
		})
	}
}

// finder is a tracker that tells of one member of each swarm.
type finder struct {
	err     error
	tells   bool
	refuses []byte
	heard   [][]byte
}

func (f *finder) Announce(_ context.Context, a *proto.Announce) (*proto.Handout, error) {
	f.heard = append(f.heard, a.Swarm)
	if f.err != nil && (f.refuses == nil || bytes.Equal(f.refuses, a.Swarm)) {
		return nil, f.err
	}
	h := &proto.Handout{Interval: uint32(len(a.Swarm))}
	if f.tells {
		h.Members = []proto.Member{{ID: proto.PeerID(a.Swarm)}}
	}
	return h, nil
}

func TestAnnounceByEachName(t *testing.T) {
	link := &proto.Link{Manifest: proto.ManifestCID(nil), InfoHash: proto.InfoHash{1}}
	manifest, torrent := link.Manifest.Bytes(), link.InfoHash.CID().Bytes()
	for name, tt := range map[string]struct {
		finder  *finder
		members []proto.PeerID
		fails   bool
	}{
		"both":            {&finder{tells: true}, []proto.PeerID{proto.PeerID(manifest), proto.PeerID(torrent)}, false},
		"one of them":     {&finder{tells: true, err: errors.New("no"), refuses: manifest}, []proto.PeerID{proto.PeerID(torrent)}, false},
		"none":            {&finder{err: errors.New("no")}, nil, true},
		"nobody is there": {&finder{}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := Announce(t.Context(), tt.finder, link.Keys(), proto.Announce{})
			if tt.fails != (err != nil) || len(tt.finder.heard) != 2 {
				t.Fatalf("%v after %d announces", err, len(tt.finder.heard))
			}
			if err != nil {
				return
			}
			var members []proto.PeerID
			for _, m := range h.Members {
				members = append(members, m.ID)
			}
			if !slices.Equal(members, tt.members) || int(h.Interval) != len(torrent) {
				t.Errorf("members %q, interval %d", members, h.Interval)
			}
		})
	}
}
