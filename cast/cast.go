package cast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/proto"
)

const (
	// lookEvery is the most time between two checks of all hosts, which send Events.
	lookEvery = 250 * time.Millisecond
	// silence bounds the time without reports of a host, whose agent reports every second.
	silence = 30 * time.Second
	// relaySilence is added for each relay between the caster and a host. It is longer than the time until a silent relay is killed.
	relaySilence = 5 * time.Second
	// stall bounds the time in which no host makes progress. A host that replaces existing files hashes them first, and
	// one that has all bytes flushes them, at diskRate bytes per second at least. In a gather this machine does both.
	stall    = 5 * time.Minute
	diskRate = 10 << 20
	// keepalive is the time between two keepalives to an agent.
	keepalive = 10 * time.Second
	// endWait bounds the wait for an agent to end, before its shell is killed.
	endWait = 5 * time.Second
	// killWait bounds the wait for an agent that was given up to clean up, before its shell is killed.
	killWait = 2 * time.Second
)

// Run runs a cast. It returns when every host is done or has failed and all temporary files are removed. The error is the reason why
// the whole cast failed; the result contains the errors of hosts. If ctx ends, the hosts give up, and the error is the cause.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	c, err := newCaster(cfg)
	if err != nil {
		return nil, err
	}
	err = c.run(ctx)
	return c.result(), errors.Join(err, c.close())
}

// caster is a running cast.
type caster struct {
	cfg      Config
	began    time.Time
	node     *node
	source   *source
	launcher *launch.Launcher
	hosts    []*host
	dials    *dials
	fetches  sync.WaitGroup // of a gather

	silence time.Duration // see there
	looked  time.Time     // when look was called last
	moved   time.Time     // the last progress of the source or a host

	ending     atomic.Bool   // all agents end, a relay after the agents behind it
	settled    chan struct{} // receives a token when a host is done or has failed
	stragglers stragglers

	events   sync.Mutex // serializes Config.Event
	reported Source     // the last Event of the source
}

func newCaster(cfg Config) (c *caster, err error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Event == nil {
		cfg.Event = func(Event) {}
	}
	c = &caster{
		cfg:     cfg,
		began:   time.Now(),
		silence: silence,
		settled: make(chan struct{}, len(cfg.Hosts)),
	}
	c.stragglers = stragglers{cfg: &c.cfg, began: c.began}
	for i := range cfg.Hosts {
		h, err := newHost(c, i)
		if err != nil {
			return nil, err
		}
		c.hosts = append(c.hosts, h)
	}
	if err := checkOpenFiles(&cfg); err != nil {
		return nil, err
	}
	outputs, err := Outputs(cfg)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	programs, err := launch.Find(exe)
	if err != nil {
		return nil, err
	}
	c.launcher = launch.New(launch.Config{
		Shell:    launch.Shell(cfg.Shell),
		Programs: programs,
		Window:   cfg.Window,
		Children: cfg.Tree,
		Keep:     cfg.Keep,
		Log:      cfg.Log,
	})
	for i, path := range outputs {
		c.hosts[i].output = path
	}
	start := startNode
	if cfg.Output != "" {
		start = startGatherNode
	}
	c.node, err = start(&cfg)
	if err != nil {
		return nil, err
	}
	c.dials = &dials{connect: c.node.Host().Connect, log: cfg.Log, slots: make(chan struct{}, maxDials)}
	if c.source, err = newSource(&c.cfg, c.node); err != nil {
		return nil, errors.Join(err, c.node.close())
	}
	return c, nil
}

// ownCluster returns the cluster of the caster, by default its own, so that it sends each byte once to each cluster. If all hosts
// are in one cluster, it is that cluster: blocks are larger there, sessions fewer, and nodes wait for no turns.
func ownCluster(cfg *Config) string {
	if cfg.Cluster != "" {
		return cfg.Cluster
	}
	only := cfg.Hosts[0].Cluster
	if !slices.ContainsFunc(cfg.Hosts, func(h Host) bool { return h.Cluster != only }) {
		return only
	}
	name := "source"
	for slices.ContainsFunc(cfg.Hosts, func(h Host) bool { return proto.ClusterGroup(h.Cluster, 1) == name }) {
		name += "-"
	}
	return name
}

// run runs all hosts until they are settled.
func (c *caster) run(ctx context.Context) error {
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for _, h := range c.hosts {
		all.Go(h.run)
	}
	read := make(chan error, 1)
	var failed error // of the source
	all.Go(func() {
		failed = c.source.run(working)
		read <- failed
	})
	why := c.wait(ctx, read)
	c.ending.Store(true)
	for _, h := range c.hosts {
		if why != nil && ctx.Err() == nil {
			h.settle(Failed, agent.OneLine(why), 0)
		}
		h.cancel(why)
	}
	cancel()
	all.Wait()
	c.dials.all.Wait()
	c.fetches.Wait()
	c.look()
	if why == nil && !errors.Is(failed, context.Canceled) {
		return failed // which the hosts have received
	}
	return why
}

// wait waits until every host is done or has failed. It fails if the source fails or ctx ends.
func (c *caster) wait(ctx context.Context, read <-chan error) error {
	tick := time.NewTimer(lookEvery)
	defer tick.Stop()
	for left := len(c.hosts); left > 0; {
		select {
		case <-c.settled:
			left--
		case err := <-read:
			if err != nil && ctx.Err() == nil {
				return err
			}
			read = nil
		case <-tick.C:
			c.look()
			tick.Reset(c.stragglers.next(time.Now()))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// look fails silent hosts, stalled ones and stragglers, releases the records that all hosts have, and sends Events.
func (c *caster) look() {
	now := time.Now()
	stopped := now.Sub(c.looked) > c.silence/2 // this process was stopped, and has received no reports
	c.looked = now
	s := c.source.state()
	if stopped || s != c.reported {
		c.moved = now
	}
	held, left := ^uint64(0), 0
	hosts := make([]HostResult, len(c.hosts))
	for i, h := range c.hosts {
		if stopped {
			h.received()
		}
		if h.silent(now) {
			h.giveUp(fmt.Sprintf("silent for %.0f s", c.silence.Seconds()))
		}
		r, changed := h.look(now)
		hosts[i] = r
		if r.Moved.After(c.moved) {
			c.moved = r.Moved
		}
		if !r.settled() {
			held = min(held, r.Held)
			left++
		}
		if changed {
			c.send(Event{Index: i, Host: &r})
		}
	}
	c.source.release(held)
	if s != c.reported {
		c.reported = s
		c.send(Event{Source: &s})
	}
	c.checkStall(now)
	some, why := c.stragglers.find(now, hosts, c.source.held(), s.Read)
	if len(some) == left {
		c.ending.Store(true)
	}
	for _, i := range some {
		c.hosts[i].giveUp(why)
	}
}

// checkStall fails hosts without progress, unless another host makes progress: they may wait for it. A command may take any time.
func (c *caster) checkStall(now time.Time) {
	if c.cfg.Exec != "" || !c.source.isReady() {
		return
	}
	s := c.reported
	for _, h := range c.hosts {
		r, limit := h.now(now), stall
		if c.cfg.Force || c.cfg.Output != "" || r.Bytes == s.Length {
			limit += time.Duration(max(s.Length, r.Length, 0)/diskRate) * time.Second
		}
		// A host that has all bytes that were read of a stream waits for the source.
		if now.Sub(c.moved) > limit && (r.Phase == Start || r.Phase == Fetching) && (s.Length >= 0 || r.Bytes < s.Read) {
			h.giveUp(fmt.Sprintf("no progress for %.0f s", limit.Seconds()))
		}
	}
}

// close closes the node. It keeps its directory if a gather can be resumed.
func (c *caster) close() error {
	if c.resumable() {
		c.node.dir = ""
	}
	return c.node.close()
}

// send sends an event.
func (c *caster) send(e Event) {
	c.events.Lock()
	defer c.events.Unlock()
	c.cfg.Event(e)
}

// result returns the result of the cast.
func (c *caster) result() *Result {
	r := &Result{Length: c.source.state().Length, DroppedBits: int(c.source.droppedBits.Load())}
	for _, h := range c.hosts {
		hr := h.now(time.Now())
		r.Hosts = append(r.Hosts, hr)
		r.Length += hr.Length
		r.Took = max(r.Took, hr.Took)
	}
	return r
}
