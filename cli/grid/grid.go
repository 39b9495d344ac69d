// Package grid runs clusters of nodes in one process, and tells how far they are and
// what a transfer between them has cost.
package grid

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

	"github.com/mobgrid/mob/cli/address"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// Grid is clusters of nodes in one process, with a tracker and a source.
type Grid struct {
	dir     string
	find    Find
	host    libhost.Host // of the tracker
	tracker *tracker.Server
	addr    ma.Multiaddr // of the tracker
	source  *member
	nodes   []*member
	began   time.Time // of the gets
}

// member is a node of a grid.
type member struct {
	name, cluster string
	copy          string // where its copy goes
	node          *peer.Node
	transfer      *peer.Transfer // nil before the get
}

// Find makes what a node finds others with.
type Find func(libhost.Host, []ma.Multiaddr) peer.Finder

// New starts a grid in dir. What it returns is to be closed even when there
// is an error.
func New(dir string, clusters, nodes int, find Find) (*Grid, error) {
	gr := &Grid{dir: dir, find: find}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return gr, err
	}
	if gr.host, err = transport.NewHost(key, []ma.Multiaddr{anyPort()}, nil); err != nil {
		return gr, err
	}
	gr.tracker = tracker.New(gr.host, tracker.Config{})
	gr.addr = address.Own(gr.host, anyPort())
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

func (gr *Grid) start(cluster, name string) (*member, error) {
	log := slog.New(slog.DiscardHandler)
	folder := filepath.Join(gr.dir, name)
	node, err := peer.Start(peer.Config{Data: folder, Cluster: cluster, Listen: []ma.Multiaddr{anyPort()},
		Trackers: []ma.Multiaddr{gr.addr}, Finder: gr.find, Log: log})
	if err != nil {
		return nil, err
	}
	return &member{name: name, cluster: cluster, copy: filepath.Join(folder, "copy"), node: node}, nil
}

// Seed serves a content from the source and returns its link.
func (gr *Grid) Seed(ctx context.Context, path string) (string, error) {
	t, err := gr.source.node.Seed(ctx, path, peer.SeedOptions{})
	if err != nil {
		return "", err
	}
	gr.source.transfer = t
	return t.Link(), t.Wait(ctx)
}

// Get has every node fetch a content at once. It does not wait for that.
func (gr *Grid) Get(text string) error {
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

// Wait returns when every node is whole.
func (gr *Grid) Wait(ctx context.Context) error {
	for _, n := range gr.nodes {
		if err := n.transfer.Wait(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// Close ends all nodes at once, then the tracker, which they tell that they leave.
func (gr *Grid) Close() error {
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
