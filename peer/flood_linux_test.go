//go:build !race

package peer_test

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// floodTime is the duration of TestFlood.
var floodTime = flag.Duration("flood", 5*time.Second, "how long TestFlood floods a node")

const (
	// manyPieces has TestNonMemberMemoryChild seed a sparse file of 64 Ki pieces.
	manyPieces = "many pieces"
	sparseSize = 1 << 30
	// flooders is the number of identities, all at one address, and maxFloodCost what they may cost the node, in bytes.
	flooders     = 100
	maxFloodCost = 100 << 20
)

// TestFlood floods a node from admitted members: they join under new names of clusters and have every piece, claim
// all pieces in the node's cluster, cancel what they did not request, and send headers of blocks without payload on all
// channels. The node's memory is bounded, and it serves another member. It floods for -flood, a second with -short.
func TestFlood(t *testing.T) {
	if testing.Short() {
		*floodTime = min(*floodTime, time.Second)
	}
	link, child := startFlooded(t, manyPieces)
	fetchOnce(t, link)
	before := rss(t, child)
	infos, err := libpeer.AddrInfosFromP2pAddrs(link.Peers...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), *floodTime)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var sessions, headers counter
	for i := range flooders {
		f := &flooder{host: peertest.Stranger(t), node: infos[0], swarm: link.Manifest.Bytes(), sessions: &sessions, headers: &headers}
		wg.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				cluster := fmt.Sprintf("flood%d-%d", i, k)
				if k%2 == 1 {
					cluster = "A"
				}
				f.session(ctx, cluster)
			}
		})
	}
	most, fetched := 0, false
	for ctx.Err() == nil {
		time.Sleep(time.Second / 4)
		most = max(most, rss(t, child)-before)
		if !fetched && sessions.value() > flooders {
			fetchOnce(t, link)
			fetched = true
		}
	}
	wg.Wait()
	if !fetched {
		fetchOnce(t, link)
	}
	most = max(most, rss(t, child)-before)
	t.Logf("%d sessions and %d headers of blocks: resident memory grew by %d MiB", sessions.value(), headers.value(), most>>20)
	if most > maxFloodCost {
		t.Errorf("the flood costs the node %d MiB, want at most %d", most>>20, maxFloodCost>>20)
	}
}

// counter counts events of several goroutines.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() { c.mu.Lock(); c.n++; c.mu.Unlock() }

func (c *counter) value() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// flooder is one identity that floods a node.
type flooder struct {
	host              libhost.Host
	node              libpeer.AddrInfo
	swarm             []byte
	sessions, headers *counter
}

// session joins the node's swarm, floods it for about a second, and leaves.
func (f *flooder) session(ctx context.Context, cluster string) {
	pause := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	if f.host.Connect(ctx, f.node) != nil {
		pause(time.Second / 4)
		return
	}
	control, err := f.host.NewStream(ctx, f.node.ID, proto.ControlProtocol)
	if err != nil {
		pause(time.Second / 4)
		return
	}
	defer func() { _ = control.Reset() }()
	defer context.AfterFunc(ctx, func() { _ = control.Reset() })()
	if proto.WriteMessage(control, &proto.Hello{Swarm: f.swarm, Cluster: cluster}) != nil {
		return
	}
	if m, err := proto.ReadMessage(control); err != nil || proto.TypeOf(m) != proto.TypeOf(&proto.Hello{}) {
		pause(time.Second / 4)
		return
	}
	f.sessions.add()
	const pieces = sparseSize / proto.MinPieceLength
	all := []proto.Range{{Count: pieces}}
	for _, m := range []proto.Message{&proto.Have{Claim: all}, &proto.Want{Pieces: all}, &proto.Have{Drop: all}, &proto.Have{Claim: all}} {
		if proto.WriteMessage(control, m) != nil {
			return
		}
	}
	if cluster != "A" {
		_ = proto.WriteMessage(control, &proto.Have{Have: all})
	}
	for i := range 100 {
		_ = proto.WriteMessage(control, &proto.Cancel{Span: proto.Span{Piece: uint32(i), Length: proto.Cell}})
	}
	var open []network.Stream
	for i := range 16 {
		s, err := f.host.NewStream(ctx, f.node.ID, proto.BulkProtocol)
		if err != nil {
			break
		}
		open = append(open, s)
		if proto.WriteMessage(s, &proto.BulkHello{Swarm: f.swarm}) != nil {
			break
		}
		if _, err := s.Write(proto.AppendBlockHeader(nil, uint32(i), 0, proto.MaxBlock)); err == nil {
			f.headers.add()
		}
	}
	pause(time.Second)
	for _, s := range open {
		_ = s.Reset()
	}
}
