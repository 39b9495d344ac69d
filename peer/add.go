package peer

import (
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/ipfs/go-cid"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
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
const CodedAuto = payload.AutoK

var errCodedTorrent = errors.New("a coded transfer cannot be offered to BitTorrent clients: leave one of the two out")

// generations is how the content of m is to be coded, 0 for plain pieces.
func (o *SeedOptions) generations(m *proto.Manifest) (k int, err error) {
	switch {
	case o.Coded == 0 && !o.Strategy.Gossip():
		return 0, nil
	case o.Torrent:
		return 0, errCodedTorrent
	}
	return payload.ChooseK(m, cmp.Or(o.Coded, CodedAuto))
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
	r := metadata.Record{Seed: true, Root: root, Link: link.String(), Whole: true, Added: time.Now()}
	t, err := n.add(link.Keys(), r, map[string][]byte{metadata.ManifestFile: b, metadata.TorrentFile: info}, false)
	if err != nil {
		return nil, err
	}
	return t, t.Wait(ctx)
}

// GetOptions are the choices of [Node.Get].
type GetOptions struct {
	// Reuse takes over what is at the destination: it is hashed, and only what
	// differs is fetched.
	Reuse bool
	// Torrent is the info dictionary of the link's info-hash, nil when it has to be
	// asked for.
	Torrent []byte
}

// Get begins to fetch the content of link to path, or goes on with it. It does
// not block; see [Transfer.Wait].
func (n *Node) Get(link *proto.Link, path string, opt GetOptions) (*Transfer, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if opt.Torrent != nil { // what is wrong with it is told at once
		if err := metadata.NewDescription("", link.InfoHash.CID(), link.InfoHash, n.cfg.Torrents).SetTorrent(opt.Torrent); err != nil {
			return nil, err
		}
	}
	if err := n.checkDestination(link.Keys(), root, opt.Reuse); err != nil {
		return nil, err
	}
	r := metadata.Record{Root: root, Link: link.String(), Added: time.Now()}
	return n.add(link.Keys(), r, map[string][]byte{metadata.TorrentFile: opt.Torrent}, opt.Reuse)
}

// checkDestination finds out early what the store would find out later, when
// the manifest is there.
func (n *Node) checkDestination(keys []cid.Cid, root string, reuse bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.find(keys) != nil {
		return nil
	}
	for _, t := range n.transfers {
		if r := t.record(); r.Root == root {
			return fmt.Errorf("%s belongs to another transfer (%s): choose another path", root, t.ID)
		}
	}
	fi, err := os.Lstat(root)
	if err == nil && !reuse {
		return &store.ExistsError{Path: root, Dir: fi.IsDir()}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if fi, err = os.Stat(filepath.Dir(root)); err != nil || !fi.IsDir() {
		return fmt.Errorf("the folder %s is not there: create it first", filepath.Dir(root))
	}
	return nil
}

// add begins a transfer, or takes up the one that is there. Of the files in its folder
// some may be known.
func (n *Node) add(keys []cid.Cid, r metadata.Record, files map[string][]byte, reuse bool) (*Transfer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.find(keys)
	id := keys[0]
	if t != nil {
		id = t.ID
	}
	dir := n.transferDir(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for name, b := range files {
		if b == nil {
			continue
		}
		if err := datadir.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return nil, err
		}
	}
	if t != nil {
		return t, t.again(r, reuse)
	}
	if err := r.Save(dir); err != nil {
		return nil, err
	}
	t = newTransfer(n, id, r)
	n.transfers[id] = t
	t.start(reuse)
	return t, nil
}

// again takes up a transfer that is known, with what a new call says of it.
func (t *Transfer) again(r metadata.Record, reuse bool) error {
	old := t.record()
	if old.Root != r.Root {
		switch {
		case old.Whole && r.Seed:
			r.Root = old.Root // a place that is as good
		case t.running() || old.Begun:
			return &ElsewhereError{Root: old.Root}
		}
	}
	r.Link = joined(old.Link, r.Link, t.ID)
	if t.running() && (old.Link == r.Link || old.Whole && !r.Seed) {
		return nil
	}
	t.halt(ErrStopped)
	r.Seed, r.Whole = old.Seed, old.Whole
	if r.Link == "" {
		r.Link = old.Link
	}
	if err := r.Save(t.node.transferDir(t.ID)); err != nil {
		return err
	}
	t.mu.Lock()
	t.remember(r)
	t.mu.Unlock()
	t.start(reuse)
	return nil
}

// joined is the new link of a content, with what it does not say and the old one did:
// a link that knows the content by another name says where to find others. The name id
// stays as it was.
func joined(old, link string, id cid.Cid) string {
	was, err := proto.ParseLink(old)
	is, e := proto.ParseLink(link)
	if err != nil || e != nil {
		return link
	}
	if !is.Manifest.Defined() {
		is.Manifest = was.Manifest
	}
	if is.InfoHash.IsZero() || was.InfoHash.CID().Equals(id) {
		is.InfoHash = was.InfoHash
	}
	is.Name, is.Length = cmp.Or(is.Name, was.Name), cmp.Or(is.Length, was.Length)
	if is.Coded == 0 {
		is.Coded, is.Strategy = was.Coded, was.Strategy
	}
	is.Trackers, is.Peers = either(is.Trackers, was.Trackers), either(is.Peers, was.Peers)
	is.Announce, is.TorrentPeers = either(is.Announce, was.Announce), either(is.TorrentPeers, was.TorrentPeers)
	return is.String()
}

// either is the first list, or the second if that is empty.
func either[T any](first, second []T) []T {
	if len(first) > 0 {
		return first
	}
	return second
}
