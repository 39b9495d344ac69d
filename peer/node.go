package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Node is a running node. Its methods may be called from any goroutine.
type Node struct {
	cfg   Config
	host  host.Host
	files *store.Files
	log   *slog.Logger
	lock  *os.File
	ctx   context.Context // ends with the node
	stop  context.CancelCauseFunc
	wg    sync.WaitGroup // a transfer each

	mu        sync.Mutex
	transfers map[cid.Cid]*Transfer
}

// Start runs a node and takes up the transfers of its data folder. It fails with
// [*InUseError] when another process has that.
func Start(cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Tuning == (mob.Tuning{}) {
		cfg.Tuning = mob.DefaultTuning()
	}
	if err := os.MkdirAll(filepath.Join(cfg.Data, "transfers"), 0o700); err != nil {
		return nil, err
	}
	lock, err := lockDir(cfg.Data)
	if err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, log: cfg.Log, lock: lock, files: store.NewFiles(cfg.OpenFiles), transfers: map[cid.Cid]*Transfer{}}
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	if err := n.begin(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) begin() error {
	key, err := LoadKey(n.cfg.Data)
	if err != nil {
		return err
	}
	if n.host, err = NewHost(key, n.cfg.Listen); err != nil {
		return err
	}
	n.host.SetStreamHandler(proto.ControlProtocol, n.acceptControl)
	n.host.SetStreamHandler(proto.ManifestProtocol, n.acceptManifest)
	acceptBulk(n.host, n.acceptChannel)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.loadTransfers()
}

// Close ends every transfer, tells peers and trackers, and waits for all that.
func (n *Node) Close() error {
	n.stop(errClosing)
	n.wg.Wait()
	var err error
	if n.host != nil {
		err = n.host.Close()
	}
	return errors.Join(err, n.lock.Close())
}

// Host is the node's libp2p host.
func (n *Node) Host() host.Host { return n.host }

// Cluster is the node's cluster.
func (n *Node) Cluster() string { return n.cfg.Cluster }

// Addrs are the addresses at which others reach the node, each with its id.
func (n *Node) Addrs() []ma.Multiaddr {
	addrs, err := libpeer.AddrInfoToP2pAddrs(&libpeer.AddrInfo{ID: n.host.ID(), Addrs: n.reachable()})
	if err != nil {
		return nil
	}
	return addrs
}

// reachable lists the host's addresses, loopback ones only where there are no
// others: to another machine they mean that machine.
func (n *Node) reachable() []ma.Multiaddr {
	all := n.host.Addrs()
	far := slices.DeleteFunc(slices.Clone(all), manet.IsIPLoopback)
	if len(far) == 0 {
		far = all
	}
	return far[:min(len(far), proto.MaxAddrs)]
}

func (n *Node) addrBytes() [][]byte {
	var out [][]byte
	for _, a := range n.reachable() {
		if b := a.Bytes(); len(b) <= proto.MaxAddr {
			out = append(out, b)
		}
	}
	return out
}

func (n *Node) self() proto.PeerID { return proto.PeerID(n.host.ID()) }

// seed makes nodes and contents draw differently.
func (n *Node) seed(id cid.Cid) uint64 {
	h := fnv.New64a()
	h.Write([]byte(n.self()))
	h.Write(id.Bytes())
	return h.Sum64()
}

// finder is the client of the trackers of a link and of the node, or nil.
func (n *Node) finder(link *proto.Link) Finder {
	trackers := slices.Clone(link.Trackers)
	for _, t := range n.cfg.Trackers {
		if !slices.ContainsFunc(trackers, t.Equal) {
			trackers = append(trackers, t)
		}
	}
	if n.cfg.Finder == nil || len(trackers) == 0 {
		return nil
	}
	return n.cfg.Finder(n.host, trackers)
}

// swarm is the running swarm of a content, nil when there is none.
func (n *Node) swarm(key []byte) *swarm {
	id, err := cid.Cast(key)
	if err != nil {
		return nil
	}
	n.mu.Lock()
	t := n.transfers[id]
	n.mu.Unlock()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.swarm
}

// SeedOptions are the choices of [Node.Seed].
type SeedOptions struct {
	// PieceLength in bytes, 0 for the default.
	PieceLength uint32
	// Trackers go into the link, before the node's own.
	Trackers []ma.Multiaddr
	// Progress is told how many bytes are hashed, and of how many.
	Progress func(done, total int64)
}

// Seed hashes what is at path, in place, and serves it from then on. It blocks
// for as long as hashing takes, until others can get it. A content that is here already is served from
// where it is, with the trackers added.
func (n *Node) Seed(ctx context.Context, path string, opt SeedOptions) (*Transfer, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	m, err := store.Scan(ctx, root, store.ScanOptions{PieceLength: opt.PieceLength, Progress: opt.Progress})
	if err != nil {
		return nil, err
	}
	b, err := m.Encode()
	if err != nil {
		return nil, err
	}
	id := proto.ManifestCID(b)
	link := &proto.Link{Manifest: id, Name: m.Name, Length: m.Length(), Peers: n.Addrs()}
	for _, t := range append(slices.Clone(opt.Trackers), n.cfg.Trackers...) {
		if !slices.ContainsFunc(link.Trackers, t.Equal) {
			link.Trackers = append(link.Trackers, t)
		}
	}
	r := record{Seed: true, Root: root, Link: link.String(), Whole: true, Added: time.Now()}
	t, err := n.add(id, r, b, false)
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
}

// Get begins to fetch the content of link to path, or goes on with it. It does
// not block; see [Transfer.Wait].
func (n *Node) Get(link *proto.Link, path string, opt GetOptions) (*Transfer, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := n.checkDestination(link.Manifest, root, opt.Reuse); err != nil {
		return nil, err
	}
	return n.add(link.Manifest, record{Root: root, Link: link.String(), Added: time.Now()}, nil, opt.Reuse)
}

// checkDestination finds out early what the store would find out later, when
// the manifest is there.
func (n *Node) checkDestination(id cid.Cid, root string, reuse bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.transfers[id] != nil {
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

// add begins a transfer, or takes up the one that is there.
func (n *Node) add(id cid.Cid, r record, manifest []byte, reuse bool) (*Transfer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := n.transfers[id]; t != nil {
		return t, t.again(r, reuse)
	}
	dir := n.transferDir(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if manifest != nil {
		if err := writeFile(filepath.Join(dir, manifestFile), manifest, 0o600); err != nil {
			return nil, err
		}
	}
	if err := saveRecord(dir, r); err != nil {
		return nil, err
	}
	t := newTransfer(n, id, r)
	n.transfers[id] = t
	t.start(reuse)
	return t, nil
}

// again takes up a transfer that is known, with what a new call says of it.
func (t *Transfer) again(r record, reuse bool) error {
	old := t.record()
	if old.Root != r.Root {
		if old.Whole && r.Seed {
			return nil // it is served already, from a place that is as good
		}
		return &ElsewhereError{Root: old.Root}
	}
	if t.running() && (old.Link == r.Link || !r.Seed) {
		return nil
	}
	t.halt(ErrStopped)
	r.Seed, r.Whole = old.Seed, old.Whole
	if r.Link == "" {
		r.Link = old.Link
	}
	if err := saveRecord(t.node.transferDir(t.ID), r); err != nil {
		return err
	}
	t.mu.Lock()
	t.mu.rec = r
	t.mu.Unlock()
	t.start(reuse)
	return nil
}

// Transfer finds a transfer by its content id, its link, or the path of its
// content. It fails with [ErrUnknownTransfer].
func (n *Node) Transfer(name string) (*Transfer, error) {
	if link, err := proto.ParseLink(name); err == nil {
		name = link.Manifest.String()
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.transfers {
		if t.ID.String() == name || t.record().Root == abs {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknownTransfer, name)
}

// Transfers lists all, the oldest first.
func (n *Node) Transfers() []*Transfer {
	n.mu.Lock()
	defer n.mu.Unlock()
	ts := make([]*Transfer, 0, len(n.transfers))
	for _, t := range n.transfers {
		ts = append(ts, t)
	}
	slices.SortFunc(ts, func(a, b *Transfer) int {
		return cmp.Or(a.record().Added.Compare(b.record().Added), cmp.Compare(a.ID.KeyString(), b.ID.KeyString()))
	})
	return ts
}

// Remove stops a transfer and forgets it. The content stays where it is, unless
// deleteContent is set: then what was fetched is deleted. What is seeded from the
// user's own place is never deleted.
func (n *Node) Remove(t *Transfer, deleteContent bool) error {
	if deleteContent && t.record().Seed {
		return errors.New("the content was not fetched by mob: delete it yourself")
	}
	t.halt(ErrStopped)
	n.mu.Lock()
	defer n.mu.Unlock()
	if deleteContent {
		if err := os.RemoveAll(t.record().Root); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(n.transferDir(t.ID)); err != nil {
		return err
	}
	delete(n.transfers, t.ID)
	return nil
}

// Manifest fetches the manifest of a link without starting a transfer. It
// blocks until a peer answers or ctx ends.
func (n *Node) Manifest(ctx context.Context, link *proto.Link, note func(string)) (*proto.Manifest, error) {
	finder := n.finder(link)
	if finder != nil {
		defer finder.Close()
	}
	t := newTransfer(n, link.Manifest, record{Link: link.String()})
	_ = note
	m, _, _, err := t.seekManifest(ctx, finder)
	return m, err
}
