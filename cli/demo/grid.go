package demo

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/tracker"
)

// grid is a source with a tracker, and clusters of nodes, all in this process.
type grid struct {
	dir     string
	tracker *tracker.Server
	source  *node
	nodes   []*node
	length  int64
	sum     [sha256.Size]byte // of the content
	began   time.Time         // of the downloads
}

// node is a node of a grid.
type node struct {
	*peer.Node
	name, cluster string
	path          string         // of its copy
	transfer      *peer.Transfer // nil before get
}

// newGrid starts a grid with its files in dir. The caller closes it, even after an error.
func newGrid(dir string, clusters, nodes int) (g *grid, err error) {
	g = &grid{dir: dir}
	local := func(libhost.Host, []ma.Multiaddr) peer.Finder { return g.tracker.Local() }
	if g.source, err = g.startNode("source", "source", local, nil); err != nil {
		return g, err
	}
	g.tracker = tracker.New(g.source.Host(), nil)
	g.source.SetTrackers(g.source.Addrs())
	finder := daemon.Finder(slog.New(slog.DiscardHandler))
	for i := range clusters * nodes {
		cluster := fmt.Sprintf("site-%d", i/nodes+1)
		n, err := g.startNode(cluster, fmt.Sprintf("%s-node-%d", cluster, i%nodes+1), finder, g.source.Addrs())
		if err != nil {
			return g, err
		}
		g.nodes = append(g.nodes, n)
	}
	return g, nil
}

func (g *grid) startNode(cluster, name string, finder func(libhost.Host, []ma.Multiaddr) peer.Finder, trackers []ma.Multiaddr) (*node, error) {
	dir := filepath.Join(g.dir, name)
	n, err := peer.Start(peer.Config{
		Data:     dir,
		Cluster:  cluster,
		Listen:   []ma.Multiaddr{daemon.Loopback()},
		Trackers: trackers,
		Finder:   finder,
	})
	return &node{Node: n, name: name, cluster: cluster, path: dir + ".copy"}, err
}

// seed writes a file of random bytes, and serves it from the source.
func (g *grid) seed(ctx context.Context, length int64) error {
	f, err := os.OpenFile(filepath.Join(g.dir, "content.bin"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	g.length = length
	g.sum, err = copyHashed(ctx, f, io.LimitReader(rand.Reader, length))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	g.source.transfer, err = g.source.Seed(ctx, f.Name(), peer.SeedOptions{})
	return err
}

// get fetches the content on every node.
func (g *grid) get() (err error) {
	g.began = time.Now()
	for _, n := range g.nodes {
		if n.transfer, err = n.Get(g.source.transfer.Link(), n.path, peer.GetOptions{}); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// wait blocks until every node has the content.
func (g *grid) wait(ctx context.Context) error {
	for _, n := range g.nodes {
		if err := n.transfer.Wait(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// intact reports whether the copy of a node equals the content.
func (g *grid) intact(ctx context.Context, n *node) (bool, error) {
	f, err := os.Open(n.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum, err := copyHashed(ctx, io.Discard, f)
	return sum == g.sum, err
}

// copyHashed copies r to w and returns the SHA-256 of the bytes. It stops when ctx ends.
func copyHashed(ctx context.Context, w io.Writer, r io.Reader) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(io.MultiWriter(h, w), r, 1<<20)
	}
	if err == io.EOF {
		return [sha256.Size]byte(h.Sum(nil)), nil
	}
	return sum, errors.Join(err, ctx.Err())
}

// close ends all nodes concurrently, and then the source, since they announce to its tracker that they leave.
func (g *grid) close() error {
	var wg sync.WaitGroup
	errs := make([]error, len(g.nodes))
	for i, n := range g.nodes {
		wg.Go(func() { errs[i] = n.Close() })
	}
	wg.Wait()
	if g.tracker != nil {
		errs = append(errs, g.source.Close(), g.tracker.Close())
	}
	return errors.Join(errs...)
}
