package netns

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Grid is a running grid. Its methods may be called from any goroutine.
type Grid struct {
	// Set by New and constant afterwards.
	log        *slog.Logger
	thread     *thread
	buffer     queueLength
	congestion congestion
	relay      *relay // nil without delay and loss
	gateways   []*gateway
	byName     map[string]*gateway

	// mu guards what follows.
	mu        sync.Mutex
	closed    bool
	processes map[*Process]struct{}
}

// New makes a grid, in a few milliseconds per node. If it fails it leaves nothing behind.
// [Available] has clearer errors for what a machine does not have.
func New(c Config) (*Grid, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	start := time.Now()
	g := &Grid{
		log:       c.Log,
		thread:    startThread(),
		buffer:    queueLength(c.Buffer),
		byName:    make(map[string]*gateway),
		processes: make(map[*Process]struct{}),
	}
	if err := raiseNeighborLimits(); err != nil {
		g.log.Warn("limits of the neighbor table not raised, nodes of a large grid may not reach each other", "err", err)
	}
	if err := g.build(c); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.log.Info("grid built", "clusters", len(c.Clusters), "links", c.Links.String(), "took", time.Since(start))
	return g, nil
}

func (g *Grid) build(c Config) error {
	for i, cl := range c.Clusters {
		gw, err := newGateway(g.thread, cl, i)
		if gw != nil {
			g.gateways = append(g.gateways, gw)
			g.byName[cl.Name] = gw
		}
		if err == nil {
			err = g.addRacks(gw)
		}
		if err != nil {
			return fmt.Errorf("netns: gateway of %s: %w", cl.Name, err)
		}
	}
	g.congestion = findCongestion(g.gateways[0].ns, c.Congestion, c.CongestionOnly)
	if g.congestion == (congestion{}) {
		g.log.Warn("congestion control not available, nodes use the default", "wanted", c.Congestion)
	}
	for _, gw := range g.gateways {
		if err := g.addNodes(gw); err != nil {
			return err
		}
	}
	return g.addWANs(c)
}

func (g *Grid) addNodes(gw *gateway) error {
	for i := range gw.Nodes {
		if err := g.addNode(gw); err != nil {
			return fmt.Errorf("netns: node %d of %s: %w", i, gw.Name, err)
		}
	}
	for i, n := range gw.nodes {
		if err := n.addNeighbors(gw.nodes); err != nil {
			return fmt.Errorf("netns: node %d of %s: %w", i, gw.Name, err)
		}
	}
	return nil
}

// Congestion is the congestion control of all nodes, empty if it is the kernel's default.
func (g *Grid) Congestion() string { return cmp.Or(g.congestion.sysctl, g.congestion.route) }

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

// SetRate sets the rate of the link between two clusters, both ways. What is queued leaves at the
// new rate.
func (g *Grid) SetRate(a, b string, r Rate) error {
	if err := checkRate(r); err != nil {
		return fmt.Errorf("netns: link %s-%s: %w", a, b, err)
	}
	for _, end := range [][2]string{{a, b}, {b, a}} {
		gw := g.byName[end[0]]
		if gw == nil || gw.wan[end[1]] == 0 {
			return fmt.Errorf("netns: no link between %q and %q", a, b)
		}
		if err := gw.ns.do(func() error { return reshape(gw.wan[end[1]], r) }); err != nil {
			return fmt.Errorf("netns: link %s-%s: %w", a, b, err)
		}
	}
	g.log.Debug("rate set", "a", a, "b", b, "rate", r)
	return nil
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
			errs = append(errs, n.ns.close())
		}
		errs = append(errs, gw.ns.close())
	}
	return errors.Join(errs...)
}
