package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// grid is a tracker, a source and clusters of nodes, all in this process.
type grid struct {
	dir         string
	trackerHost libhost.Host
	tracker     *tracker.Server
	trackerAddr ma.Multiaddr
	source      *node
	nodes       []*node
	began       time.Time // of the downloads
}

// node is a node of a grid.
type node struct {
	name, cluster string
	copy          string // path of its copy
	node          *peer.Node
	transfer      *peer.Transfer // nil before get
}

// newGrid starts a grid with its files in dir. The caller closes it, even
// after an error.
func newGrid(dir string, clusters, nodes int) (*grid, error) {
	g := &grid{dir: dir}
	if err := g.startTracker(); err != nil {
		return g, err
	}
	var err error
	g.source, err = g.startNode("source", "source")
	if err != nil {
		return g, err
	}
	for c := range clusters {
		cluster := fmt.Sprintf("site-%d", c+1)
		for i := range nodes {
			n, err := g.startNode(cluster, fmt.Sprintf("%s-node-%d", cluster, i+1))
			if err != nil {
				return g, err
			}
			g.nodes = append(g.nodes, n)
		}
	}
	return g, nil
}

func (g *grid) startTracker() error {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return err
	}
	g.trackerHost, err = transport.NewHost(key, []ma.Multiaddr{daemon.Loopback()}, nil, nil)
	if err != nil {
		return err
	}
	g.tracker = tracker.New(g.trackerHost, tracker.Config{})
	g.trackerAddr = daemon.OwnAddr(g.trackerHost, daemon.Loopback())
	return nil
}

func (g *grid) startNode(cluster, name string) (*node, error) {
	log := slog.New(slog.DiscardHandler)
	dir := filepath.Join(g.dir, name)
	n, err := peer.Start(peer.Config{
		Data:     dir,
		Cluster:  cluster,
		Listen:   []ma.Multiaddr{daemon.Loopback()},
		Trackers: []ma.Multiaddr{g.trackerAddr},
		Finder:   daemon.Finder(log),
		Log:      log,
	})
	if err != nil {
		return nil, err
	}
	return &node{name: name, cluster: cluster, copy: dir + ".copy", node: n}, nil
}

// seed serves a file from the source and returns its link.
func (g *grid) seed(ctx context.Context, path string) (*proto.Link, error) {
	t, err := g.source.node.Seed(ctx, path, peer.SeedOptions{})
	if err != nil {
		return nil, err
	}
	g.source.transfer = t
	if err := t.Wait(ctx); err != nil {
		return nil, err
	}
	return t.Link(), nil
}

// get starts the download on every node.
func (g *grid) get(link *proto.Link) (err error) {
	g.began = time.Now()
	for _, n := range g.nodes {
		n.transfer, err = n.node.Get(link, n.copy, peer.GetOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// wait blocks until every node has the whole file.
func (g *grid) wait(ctx context.Context) error {
	for _, n := range g.nodes {
		if err := n.transfer.Wait(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// close ends all nodes concurrently, and then the tracker, since they announce to it that they leave.
func (g *grid) close() error {
	var wg sync.WaitGroup
	errs := make([]error, len(g.nodes))
	for i, n := range g.nodes {
		wg.Go(func() { errs[i] = n.node.Close() })
	}
	wg.Wait()
	if g.source != nil {
		errs = append(errs, g.source.node.Close())
	}
	if g.tracker != nil {
		errs = append(errs, g.tracker.Close())
	}
	if g.trackerHost != nil {
		errs = append(errs, g.trackerHost.Close())
	}
	return errors.Join(errs...)
}
