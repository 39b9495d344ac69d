package peer

import (
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// SeedOptions are the options of [Node.Seed]. The zero value seeds plain pieces.
type SeedOptions struct {
	// ManifestName is the name in the manifest. Empty means the base name of the path.
	ManifestName string `json:"-"`
	// PieceLength is in bytes. 0 means a length that suits the content.
	PieceLength uint32 `json:"piece_length,omitempty"`
	// Coded makes the transfer a coded one. It is the number of source blocks in a
	// generation, from 2 to 255, or [CodedAuto]. 0 means plain pieces. It excludes Torrent.
	Coded int `json:"coded,omitempty"`
	// Strategy is the strategy of a coded transfer. The strategies of permutation gossip are
	// for a single cluster. They imply CodedAuto if Coded is 0, though large generations
	// suit them better.
	Strategy proto.Strategy `json:"-"`
	// Plan, if not nil, is the plan that the transfer follows. It begins at this node's host, see
	// [Config.Host], and excludes Coded and Strategy.
	Plan *plan.Plan `json:"-"`
	// Trackers go into the link, before the node's own.
	Trackers []ma.Multiaddr `json:"trackers,omitempty"`
	// Torrent offers the content to BitTorrent clients too. The same read hashes its pieces
	// with SHA-1, and the link has an info-hash.
	Torrent bool `json:"torrent,omitempty"`
	// Announce and TorrentPeers go into the link with Torrent: the BitTorrent trackers, and
	// the addresses at which BitTorrent clients reach a peer.
	Announce     []string         `json:"bt_trackers,omitempty"`
	TorrentPeers []netip.AddrPort `json:"-"`
	// FollowLinks takes what symbolic links lead to where that is not below the path, see
	// [store.ScanOptions].
	FollowLinks bool `json:"follow_links,omitempty"`
	// SkipUnreadable, if not nil, leaves out what may not be read, see [store.ScanOptions].
	SkipUnreadable func(path string) `json:"-"`
	// Priority is the priority of the transfer at this node. A known transfer keeps its priority if this is empty.
	Priority limit.Priority `json:"priority,omitempty"`
	// User is the calling user, nil for the owner of the node. No file is read that the user
	// may not read.
	User *vfs.User `json:"-"`
	// Memory is the number of bytes that [Node.SeedReader] keeps in memory. 0 means 64 MiB.
	Memory int64 `json:"-"`
	// Progress, if not nil, is called with the bytes hashed and to hash, and before that with the bytes read and 0
	// by [Node.SeedReader].
	Progress func(done, total int64) `json:"-"`
}

// CodedAuto is the [SeedOptions.Coded] that chooses generations of a size that suits this machine and
// its network.
const CodedAuto = coded.AutoK

var (
	errBothWays     = errors.New("a coded transfer cannot be offered to BitTorrent clients")
	errCodedTorrent = fmt.Errorf("%w: leave one of the two out", errBothWays)
)

func (o *SeedOptions) coded() bool { return o.Coded != 0 || o.Strategy.Gossip() }

// generations returns the number of source blocks in a generation, 0 for plain pieces.
func (o *SeedOptions) generations(m *proto.Manifest) (k int, err error) {
	if !o.coded() {
		return 0, nil
	}
	return coded.ChooseK(m, cmp.Or(o.Coded, CodedAuto))
}

// Seed hashes the file or directory at path, in place, and serves it from there until the transfer
// is stopped. It blocks until the content is hashed and served, or ctx ends. The files must not
// change as long as they are served. Seed fails if path leads to or through the data directory, and
// if another transfer fetches to it, above or below it, by whatever name. A complete transfer there becomes a
// seed.
//
// If the node has the content already and its files are intact, Seed resumes that transfer at its own path and adds
// the options to its link. If they are not, the transfer moves to path. It fails with an [*ElsewhereError] if that transfer is fetching
// the content to another path.
func (n *Node) Seed(ctx context.Context, path string, opt SeedOptions) (*Transfer, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if root, err = n.transfers.pathFor(opt.User, root); err != nil {
		return nil, err
	}
	if _, err := n.transfers.placeFor(metadata.Record{Seed: true, Root: root, User: opt.User}, nil); err != nil {
		return nil, err
	}
	planned, err := opt.check(n)
	if err != nil {
		return nil, err
	}
	m, info, err := opt.scan(ctx, root, n)
	if errors.Is(err, proto.ErrLeadsOut) {
		err = fmt.Errorf("%w: seed, cast and gather take what such links lead to with --follow-links", err)
	}
	if err != nil {
		return nil, err
	}
	a, err := opt.addition(n, m, info, planned)
	if err != nil {
		return nil, err
	}
	a.record.Root = root
	if a.place, err = n.transfers.placeFor(a.record, nil); err != nil { // hashing may have taken hours
		return nil, err
	}
	t, err := n.add(a)
	if err != nil {
		return nil, err
	}
	if err := n.transfers.seeded(t); err != nil {
		return nil, err
	}
	return t, t.Wait(ctx)
}

// check fails if the options are mutually exclusive, or the node does not suit them. It returns the encoded plan, nil if
// there is none.
func (o *SeedOptions) check(n *Node) (planned []byte, err error) {
	if err := n.maySeed(true); err != nil {
		return nil, err
	}
	switch {
	case o.coded() && o.Plan != nil:
		return nil, errCodedPlan
	case o.Torrent && n.cfg.Torrents == nil:
		return nil, metadata.ErrNoTorrents
	case o.coded() && o.Torrent:
		return nil, errCodedTorrent
	case o.Plan == nil:
		return nil, nil
	}
	return n.planHost.encode(o.Plan)
}

// addition returns the operation of a seed, without a place. info and planned are nil for none.
func (o *SeedOptions) addition(n *Node, m *proto.Manifest, info, planned []byte) (a addition, err error) {
	k, err := o.generations(m)
	if err != nil {
		return a, err
	}
	b, err := m.Encode()
	if err != nil {
		return a, err
	}
	link := &proto.Link{
		Manifest: proto.ManifestCID(b),
		Name:     m.Name,
		Length:   m.Length(),
		Trackers: n.ownTrackers.with(o.Trackers),
		Peers:    n.Addrs(),
		Coded:    k,
		Strategy: o.Strategy,
	}
	a.record = metadata.Record{
		Seed: true, Whole: true, Link: link, Added: time.Now(), User: o.User, FollowLinks: o.FollowLinks, Priority: o.Priority,
	}
	a.files = map[string][]byte{metadata.ManifestFile: b, metadata.TorrentFile: info, metadata.PlanFile: planned}
	if planned != nil {
		link.Plan = proto.PlanCID(planned)
	}
	if info != nil {
		link.InfoHash, link.Announce, link.TorrentPeers = sha1.Sum(info), o.Announce, o.TorrentPeers
		a.record.Announce = o.Announce
	}
	return a, nil
}

// scanOptions returns the options of a scan without SHA-1.
func (o *SeedOptions) scanOptions() store.ScanOptions {
	so := store.ScanOptions{PieceLength: o.PieceLength, Progress: o.Progress}
	if o.coded() {
		so.LeastPiece = proto.MinCodedBlock
	}
	so.Accept = func(m *proto.Manifest) error {
		_, err := o.generations(m)
		return err
	}
	return so
}

// scan returns the manifest of what is at root, and the info dictionary if the options ask for
// it. Options that do not suit the content fail before it is hashed.
func (o *SeedOptions) scan(ctx context.Context, root string, n *Node) (m *proto.Manifest, info []byte, err error) {
	so := o.scanOptions()
	so.FollowLinks, so.SkipUnreadable = o.FollowLinks, o.SkipUnreadable
	so.Outside = func(path string) error {
		p, err := n.transfers.place(path)
		if err == nil {
			err = n.transfers.checkSeen(p, metadata.Record{Seed: true, Root: path, User: o.User}, nil)
		}
		return err
	}
	if o.User != nil {
		so.FS = vfs.As(o.User, "")
	}
	var sums []byte
	if o.Torrent {
		so.Accept = func(m *proto.Manifest) error {
			_, err := n.cfg.Torrents.Build(m, make([]byte, m.Pieces()*sha1.Size))
			return err
		}
		m, sums, err = store.ScanSHA1(ctx, root, so)
	} else {
		m, err = store.Scan(ctx, root, so)
	}
	if err != nil {
		return nil, nil, err
	}
	m.Name = cmp.Or(o.ManifestName, m.Name)
	if o.Torrent {
		info, err = n.cfg.Torrents.Build(m, sums)
	}
	return m, info, err
}
