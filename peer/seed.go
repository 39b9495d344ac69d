package peer

import (
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"net/netip"
	"path/filepath"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/proto"
)

// SeedOptions are the choices of [Node.Seed].
type SeedOptions struct {
	// PieceLength in bytes, 0 for the default.
	PieceLength uint32
	// Coded makes the transfer a coded one, with so many source blocks in a generation,
	// or [CodedAuto]. 0 is for plain pieces. It excludes Torrent.
	Coded int
	// Strategy is how the blocks of a coded transfer go round. One of permutation gossip
	// is for a single cluster, and implies CodedAuto, though large generations suit it.
	Strategy proto.Strategy
	// Trackers go into the link, before the node's own.
	Trackers []ma.Multiaddr
	// Torrent offers the content to BitTorrent clients too: pieces are hashed for them
	// in the same read, and the link is one for them as well. Announce are their
	// trackers, TorrentPeers where a client of theirs has the content; both go into
	// the link.
	Torrent      bool
	Announce     []string
	TorrentPeers []netip.AddrPort
	// Progress is told how many bytes are hashed, and of how many.
	Progress func(done, total int64)
}

// CodedAuto is, as [SeedOptions.Coded], for generations of a size that suits this
// machine and its network.
const CodedAuto = coded.AutoK

var errCodedTorrent = errors.New("a coded transfer cannot be offered to BitTorrent clients: leave one of the two out")

// generations is how the content of m is to be coded, 0 for plain pieces.
func (o *SeedOptions) generations(m *proto.Manifest) (k int, err error) {
	switch {
	case o.Coded == 0 && !o.Strategy.Gossip():
		return 0, nil
	case o.Torrent:
		return 0, errCodedTorrent
	}
	return coded.ChooseK(m, cmp.Or(o.Coded, CodedAuto))
}

// Seed hashes what is at path, in place, and serves it from then on. It blocks
// for as long as hashing takes, until others can get it. A content that is here already is served from
// where it is, with the trackers added.
func (n *Node) Seed(ctx context.Context, path string, opt SeedOptions) (*Transfer, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	m, info, err := n.scan(ctx, root, opt)
	if err != nil {
		return nil, err
	}
	k, err := opt.generations(m)
	if err != nil {
		return nil, err
	}
	b, err := m.Encode()
	if err != nil {
		return nil, err
	}
	link := &proto.Link{Manifest: proto.ManifestCID(b), Name: m.Name, Length: m.Length(), Trackers: n.trackers(opt.Trackers), Peers: n.Addrs(), Coded: k, Strategy: opt.Strategy}
	if info != nil {
		link.InfoHash, link.Announce, link.TorrentPeers = sha1.Sum(info), opt.Announce, opt.TorrentPeers
	}
	t, err := n.add(addition{
		record: metadata.Record{Seed: true, Root: root, Link: link, Whole: true, Added: time.Now()},
		files:  map[string][]byte{metadata.ManifestFile: b, metadata.TorrentFile: info},
	})
	if err != nil {
		return nil, err
	}
	return t, t.Wait(ctx)
}
