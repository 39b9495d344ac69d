package peer

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ipfs/go-cid"
	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/shortname"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Node is a running node. Its methods may be called from any goroutine. Those that change a
// transfer fail after Close.
type Node struct {
	cfg    Config
	faults swarm.Faults
	host   libhost.Host
	bulk   *transport.Endpoint
	member *membership.Member // nil without a network
	files  *store.Files
	log    *slog.Logger
	names  *shortname.Names
	lock   io.Closer
	ctx    context.Context // ends with the node
	stop   context.CancelCauseFunc
	wg     sync.WaitGroup // of running transfers and of operations, see enter

	limits  limit.Buckets
	sharing *sharing

	dialer      dialer
	describer   describer
	ownTrackers trackers
	planHost    planHost

	fs fileSystem

	transfers *registry
	documents documents
	groups    groups
	keep      atomic.Pointer[Keep]
	number    atomic.Int64 // of the last completion

	mu     sync.Mutex // nothing under it waits for a disk, the network or a channel
	closed bool
	lost   error // what did not reach the disk
}

// Option is an option of [Start].
type Option func(*Node)

// WithFaults injects faults into every swarm of the node. It is for tests.
func WithFaults(f swarm.Faults) Option { return func(n *Node) { n.faults = f } }

// Start starts a node, and resumes the transfers of its data directory that were not stopped. It
// fails with a [*datadir.InUseError] if another process uses the directory, and if other users can
// change its files or read its key.
func Start(cfg Config, opts ...Option) (*Node, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if err := datadir.Create(cfg.Data); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(cfg.Data, "transfers"), 0o700); err != nil {
		return nil, err
	}
	if err := vfs.SyncDir(vfs.OS{}, cfg.Data); err != nil {
		return nil, err
	}
	lock, err := datadir.Lock(cfg.Data)
	if err != nil {
		return nil, err
	}
	n := &Node{
		cfg:       cfg,
		lock:      lock,
		files:     store.NewFiles(0),
		fs:        fileSystem{os.Lstat, func(st store.Store) store.Store { return st }},
		transfers: &registry{data: cfg.Data, byID: map[cid.Cid]*Transfer{}},
		sharing:   newSharing(),
		groups:    groups{byKey: map[string]*GroupLink{}},
	}
	n.files.SetUmask(cfg.Umask)
	n.SetLimits(cfg.Limits)
	n.SetTrackers(cfg.Trackers)
	for _, o := range opts {
		o(n)
	}
	n.SetKeep(Keep{})
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) open() error {
	key, err := datadir.LoadKey(n.cfg.Data)
	if err != nil {
		return err
	}
	if n.names, err = shortname.New(key); err != nil {
		return err
	}
	n.log = n.names.Logger(n.cfg.Log)
	if n.bulk, err = transport.NewEndpoint(key); err != nil {
		return err
	}
	if err = n.join(key); err != nil {
		return err
	}
	if n.host, err = transport.NewHost(key, n.cfg.Listen, n.bulk, n.member); err != nil {
		return err
	}
	n.dialer = dialer{n.ctx, &n.wg, n.host, n.log}
	n.describer = describer{&n.cfg, &n.dialer}
	n.planHost = planHost{n.cfg.Host, n.host.ID().String()}
	if n.cfg.Finder != nil {
		n.ownTrackers.client = func(all []ma.Multiaddr) Finder { return n.cfg.Finder(n.host, all) }
	}
	n.wg.Go(func() { n.sharing.run(n.ctx) })
	n.wg.Go(func() { new(limit.Governor).Run(n.ctx, n.transfers.loads) })
	n.transfers.accept(n.host, n.bulk)
	n.documents = documents{n.transfers, n.host.ID()}
	n.documents.serve(n.ctx, n.host)
	n.host.SetStreamHandler(proto.GroupProtocol, n.groups.acceptStream)
	n.dialer.connectAddrs(n.Trackers())
	if err := n.loadTransfers(); err != nil {
		return err
	}
	n.wg.Go(n.maintain)
	return nil
}

// enter starts an operation, which ends with n.wg.Done. Close waits for it. enter fails once the
// node closes.
func (n *Node) enter() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errClosing
	}
	n.wg.Add(1)
	return nil
}

// Close ends every transfer, with a message to peers and trackers. It waits for the disk, and
// for calls that change a transfer. Later calls fail. The next node with the same data directory resumes the
// transfers that ran. Close returns an error if bytes did not reach the disk.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.stop(errClosing)
	n.wg.Wait()
	var err error
	if n.host != nil {
		n.bulk.Close()
		err = n.host.Close()
	}
	return errors.Join(n.lost, err, n.lock.Close())
}

// lose records why bytes of a transfer did not reach the disk, for Close.
func (n *Node) lose(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		n.lost = errors.Join(n.lost, err)
	}
}

// Host returns the node's libp2p host.
func (n *Node) Host() libhost.Host { return n.host }

// Names returns the short names that replace content ids in the node's log.
func (n *Node) Names() *shortname.Names { return n.names }

// Files returns the open files of the node's stores, for stores of other packages.
func (n *Node) Files() *store.Files { return n.files }

// Cluster returns the name of the node's cluster.
func (n *Node) Cluster() string { return n.cfg.Cluster }

// HostName returns the name of the node's host, see [Config.Host].
func (n *Node) HostName() string { return n.cfg.Host }

// Addrs returns the addresses at which other nodes may reach this one, with its peer id, as
// links have them. They include loopback addresses only if there are no other addresses.
func (n *Node) Addrs() []ma.Multiaddr {
	addrs, err := libpeer.AddrInfoToP2pAddrs(&libpeer.AddrInfo{ID: n.host.ID(), Addrs: n.dialer.reachable()})
	if err != nil {
		return nil
	}
	return addrs
}

// fileSystem has the calls of a node that are not calls of a store. Tests replace them.
type fileSystem struct {
	lstat func(path string) (os.FileInfo, error)
	wrap  func(store.Store) store.Store
}

// missing reports whether nothing is at a path. A file may have taken the place of a directory above it.
func (fsys *fileSystem) missing(path string) bool {
	_, err := fsys.lstat(path)
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// isLink reports whether a symbolic link is at a path.
func (fsys *fileSystem) isLink(path string) bool {
	info, err := fsys.lstat(path)
	return err == nil && info.Mode().Type() == os.ModeSymlink
}
