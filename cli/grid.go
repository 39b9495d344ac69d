package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/host"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// grid is clusters of nodes in one process, with a tracker and a source.
type grid struct {
	dir     string
	host    libhost.Host // of the tracker
	tracker *tracker.Server
	addr    ma.Multiaddr // of the tracker
	source  *gridNode
	nodes   []*gridNode
	began   time.Time // of the gets
}

// gridNode is a node of a grid.
type gridNode struct {
	name, cluster string
	copy          string // where its copy goes
	node          *peer.Node
	transfer      *peer.Transfer // nil before the get
}

// newGrid starts a grid in dir. What it returns is to be closed even when there
// is an error.
func newGrid(dir string, clusters, nodes int) (*grid, error) {
	gr := &grid{dir: dir}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return gr, err
	}
	if gr.host, err = host.New(key, []ma.Multiaddr{anyPort()}, nil); err != nil {
		return gr, err
	}
	gr.tracker = tracker.New(gr.host, tracker.Config{})
	gr.addr = ownAddr(gr.host, anyPort())
	if gr.source, err = gr.start("source", "source"); err != nil {
		return gr, err
	}
	for c := range clusters {
		cluster := fmt.Sprintf("site-%d", c+1)
		for i := range nodes {
			n, err := gr.start(cluster, fmt.Sprintf("%s-node-%d", cluster, i+1))
			if err != nil {
				return gr, err
			}
			gr.nodes = append(gr.nodes, n)
		}
	}
	return gr, nil
}

func anyPort() ma.Multiaddr { return ma.StringCast("/ip4/127.0.0.1/tcp/0") }

func (gr *grid) start(cluster, name string) (*gridNode, error) {
	log := slog.New(slog.DiscardHandler)
	folder := filepath.Join(gr.dir, name)
	node, err := peer.Start(peer.Config{Data: folder, Cluster: cluster, Listen: []ma.Multiaddr{anyPort()},
		Trackers: []ma.Multiaddr{gr.addr}, Finder: finder(log), Log: log})
	if err != nil {
		return nil, err
	}
	return &gridNode{name: name, cluster: cluster, copy: filepath.Join(folder, "copy"), node: node}, nil
}

// seed serves a content from the source and returns its link.
func (gr *grid) seed(ctx context.Context, path string) (string, error) {
	t, err := gr.source.node.Seed(ctx, path, peer.SeedOptions{})
	if err != nil {
		return "", err
	}
	gr.source.transfer = t
	return t.Link(), t.Wait(ctx)
}

// get has every node fetch a content at once. It does not wait for that.
func (gr *grid) get(text string) error {
	link, err := proto.ParseLink(text)
	if err != nil {
		return err
	}
	gr.began = time.Now()
	for _, n := range gr.nodes {
		if n.transfer, err = n.node.Get(link, n.copy, peer.GetOptions{}); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// wait returns when every node is whole.
func (gr *grid) wait(ctx context.Context) error {
	for _, n := range gr.nodes {
		if err := n.transfer.Wait(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// close ends all nodes at once, then the tracker, which they tell that they leave.
func (gr *grid) close() error {
	var wg sync.WaitGroup
	errs := make([]error, len(gr.nodes))
	for i, n := range gr.nodes {
		wg.Go(func() { errs[i] = n.node.Close() })
	}
	wg.Wait()
	if gr.source != nil {
		errs = append(errs, gr.source.node.Close())
	}
	if gr.tracker != nil {
		errs = append(errs, gr.tracker.Close())
	}
	if gr.host != nil {
		errs = append(errs, gr.host.Close())
	}
	return errors.Join(errs...)
}

// randomContent is a file and its hash.
type randomContent struct {
	path   string
	length int64
	sum    [32]byte
}

// writeRandom makes the content that is to be moved. Nothing of it repeats, so
// nothing can look right by chance.
func writeRandom(ctx context.Context, dir string, length int64) (c randomContent, err error) {
	c = randomContent{path: filepath.Join(dir, "content.bin"), length: length}
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return c, err
	}
	c.sum, err = copyHashed(ctx, f, randomReader(length))
	return c, errors.Join(err, f.Close())
}
