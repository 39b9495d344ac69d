package netns

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Grid is a running grid. Its methods may be called from any goroutine.
type Grid struct {
	// Set by New and constant afterwards.
	thread     *thread
	congestion congestion
	relay      *relay // nil without delay and loss
	gateways   []*gateway
	byName     map[string]*gateway

	// mu guards what follows.
	mu        sync.Mutex
	closed    bool
	processes map[*Process]struct{}
}

// Available returns an error if this machine cannot make a grid. It makes a small one.
func Available() error {
	if os.Geteuid() != 0 {
		return errors.New("netns: a grid requires root, for network namespaces")
	}
	g, err := New(Config{Clusters: []Cluster{{Name: "A", Nodes: 1, NIC: MBps}}})
	if err != nil {
		return fmt.Errorf("netns: not possible on this machine: %w", err)
	}
	return g.Close()
}

// New makes a grid, in a few milliseconds per node. If it fails it leaves nothing behind.
func New(c Config) (*Grid, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	g := &Grid{thread: startThread(), byName: make(map[string]*gateway), processes: make(map[*Process]struct{})}
	raiseNeighborLimits()
	if err := g.build("grid", func(b *builder) { b.addAll(c) }); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// addAll makes all parts of a grid.
func (b *builder) addAll(c Config) {
	for i, cl := range c.Clusters {
		b.addGateway(cl, i)
	}
	algorithm := c.Congestion
	if algorithm == "" {
		algorithm = "cubic"
	}
	b.congestion = b.findCongestion(b.gateways[0].ns, algorithm, c.CongestionOnly)
	for _, gw := range b.gateways {
		for range gw.Nodes {
			b.addNode(gw)
		}
		b.addNeighbors(gw)
	}
	if c.RTT > 0 || c.Loss > 0 {
		b.do("relay", func() (err error) {
			b.relay, err = newRelay(c.RTT/2, c.Loss)
			return err
		})
	}
	for i, a := range b.gateways {
		for _, z := range b.gateways[i+1:] {
			b.addWAN(a, z, c.Links.Rate(a.Name, z.Name))
		}
	}
	if b.relay != nil {
		b.relay.start()
	}
}

// Node returns the i-th node, from 0, of a cluster; nil if there is none.
func (g *Grid) Node(cluster string, i int) *Node {
	nodes := g.Nodes(cluster)
	if i < 0 || i >= len(nodes) {
		return nil
	}
	return nodes[i]
}

// Nodes returns the nodes of a cluster in order; nil if there is no such cluster. The caller must
// not modify the slice.
func (g *Grid) Nodes(cluster string) []*Node {
	gw := g.byName[cluster]
	if gw == nil {
		return nil
	}
	return gw.nodes
}

// SetRate sets the rate of the link between two clusters, both ways. Queued frames leave at the
// new rate.
func (g *Grid) SetRate(a, b string, r Rate) error {
	if err := checkRate(r); err != nil {
		return fmt.Errorf("netns: link %s-%s: %w", a, b, err)
	}
	change := func(b *builder, _, to *gateway) { b.reshape(wanName(to), r) }
	if err := g.atWAN(a, b, change); err != nil {
		return err
	}
	return g.atWAN(b, a, change)
}

// Close kills the processes of the grid, waits for them, and closes the namespaces, which the
// kernel removes later. It may be called again.
func (g *Grid) Close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	g.mu.Unlock()

	errs := []error{g.killAll()}
	g.thread.stop()
	if g.relay != nil {
		errs = append(errs, g.relay.close())
	}
	for _, gw := range g.gateways {
		for _, n := range gw.nodes {
			errs = append(errs, closeFD(int(n.ns)))
		}
		errs = append(errs, closeFD(int(gw.ns)))
	}
	return errors.Join(errs...)
}

// closeFD closes a file descriptor, unless it is -1.
func closeFD(fd int) error {
	if fd < 0 {
		return nil
	}
	return unix.Close(fd)
}
