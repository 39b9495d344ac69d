package cast

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/proto"
)

const (
	// lookEvery is the time between two looks at all hosts. What is new of them becomes Events then.
	lookEvery = 250 * time.Millisecond
	// silence is how long a host may say nothing before it is given up. Its agent reports every second.
	silence = 30 * time.Second
	// stall bounds the time in which no host makes progress. A host that replaces existing files hashes them first, at
	// hashRate bytes per second at least.
	stall    = 5 * time.Minute
	hashRate = 10 << 20
	// beat is the time between two signs of life to an agent.
	beat = 10 * time.Second
	// endWait bounds the wait for an agent to end, before its shell is killed.
	endWait = 5 * time.Second
)

// Run casts. It returns when every host is done or has failed, and nothing of the cast is left here or
// there. The error says why the cast as a whole failed: why single hosts did is in the result. If ctx
// ends, the hosts are told to give up, and the error is the cause.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	c, err := newCaster(cfg)
	if err != nil {
		return nil, err
	}
	err = c.run(ctx)
	err = errors.Join(err, c.node.close())
	return c.result(), err
}

// caster is a cast under way.
type caster struct {
	cfg      Config
	began    time.Time
	node     *node
	source   *source
	launcher *launch.Launcher
	hosts    []*host
	byName   map[string]*host
	dials    *dials

	silence time.Duration // see there
	looked  time.Time     // when look was called last
	moved   time.Time     // the last progress of the source or a host

	settled chan struct{} // gets a token when a host is done or has failed
	over    chan struct{} // closed when the agents are told to end
	why     error         // why before all of them were done; constant then

	telling sync.Mutex // of Config.Event
	told    Source     // guarded by telling
}

// newCaster prepares a cast.
func newCaster(cfg Config) (c *caster, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Event == nil {
		cfg.Event = func(Event) {}
	}
	c = &caster{
		cfg:     cfg,
		began:   time.Now(),
		byName:  map[string]*host{},
		silence: silence,
		settled: make(chan struct{}, len(cfg.Hosts)),
		over:    make(chan struct{}),
	}
	for i := range cfg.Hosts {
		h, err := newHost(c, i)
		if err != nil {
			return nil, err
		}
		c.hosts = append(c.hosts, h)
		c.byName[h.is.Name] = h
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
		Shell:    cfg.Shell,
		Programs: programs,
		Window:   cfg.Window,
		Keep:     cfg.Keep,
		Log:      cfg.Log,
		Note:     c.note,
	})
	if c.node, err = startNode(cfg.Data, ownCluster(&cfg), !cfg.streams(), cfg.Log); err != nil {
		return nil, err
	}
	c.dials = newDials(c.node.Host().Connect, cfg.Log)
	if c.source, err = newSource(&c.cfg, c.node); err != nil {
		return nil, errors.Join(err, c.node.close())
	}
	return c, nil
}

// ownCluster names the cluster of the caster, unless the user does: one of its own, so that it sends each byte
// once to each cluster. If the hosts are all of one cluster, it is of that, too: within a cluster blocks are larger,
// nobody waits for a turn, nodes have few sessions, and a piece that only the caster has is requested by one host, too.
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

// run runs all hosts, and returns why they were not done when they were told to end.
func (c *caster) run(ctx context.Context) error {
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for _, h := range c.hosts {
		all.Go(func() { h.run(working) })
	}
	read := make(chan error, 1)
	var failed error // why the source did
	all.Go(func() {
		failed = c.source.run(working)
		read <- failed
	})
	c.why = c.wait(ctx, read)
	if c.why != nil && ctx.Err() == nil {
		for _, h := range c.hosts {
			h.settle(Failed, agent.OneLine(c.why), 0)
		}
	}
	close(c.over)
	cancel()
	all.Wait()
	c.dials.wait()
	c.look()
	if c.why == nil && !errors.Is(failed, context.Canceled) {
		return failed // of which the hosts have heard before this end
	}
	return c.why
}

// note notes a phase of a login.
func (c *caster) note(name, phase string) {
	if h := c.byName[name]; h != nil {
		h.enter(Phase(phase))
	}
}

// wait waits until every host is done or has failed. It fails if the source does, or ctx ends before.
func (c *caster) wait(ctx context.Context, read <-chan error) error {
	tick := time.NewTicker(lookEvery)
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
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// look fails silent and stalled hosts, releases what all hosts have, and sends Events.
func (c *caster) look() {
	now := time.Now()
	stopped := now.Sub(c.looked) > c.silence/2 // this process was stopped, and has read nothing
	c.looked = now
	s := c.source.state()
	if stopped || s != c.told {
		c.moved = now
	}
	held := ^uint64(0)
	for _, h := range c.hosts {
		if stopped {
			h.hear()
		}
		r := h.now(now)
		if r.Moved.After(c.moved) {
			c.moved = r.Moved
		}
		if h.silent(now) {
			h.giveUp("silent for %.0f s", c.silence)
		}
		held = min(held, h.heldNow())
		if e, changed := h.news(now); changed {
			c.tell(e)
		}
	}
	c.source.release(held)
	if s != c.told {
		c.told = s
		c.tell(Event{Source: &s})
	}
	c.checkStall(now)
}

// checkStall fails hosts that only report what they reported before, unless another host still makes progress, which
// they may wait for. A command may take as long as it likes.
func (c *caster) checkStall(now time.Time) {
	limit := stall
	if c.cfg.Force {
		limit += time.Duration(max(c.told.Length, 0)/hashRate) * time.Second
	}
	if c.cfg.Exec != "" || now.Sub(c.moved) <= limit || !c.source.isReady() {
		return
	}
	for _, h := range c.hosts {
		// A host that has what was read of a stream waits for its source.
		if r := h.now(now); (r.Phase == Start || r.Phase == Fetching) && (c.told.Length >= 0 || r.Bytes < c.told.Read) {
			h.giveUp("no progress for %.0f s", limit)
		}
	}
}

// tell tells an event.
func (c *caster) tell(e Event) {
	c.telling.Lock()
	defer c.telling.Unlock()
	c.cfg.Event(e)
}

// result is what became of the cast.
func (c *caster) result() *Result {
	r := &Result{Length: c.source.state().Length, DroppedBits: int(c.source.droppedBits.Load())}
	for _, h := range c.hosts {
		hr := h.now(time.Now())
		r.Hosts = append(r.Hosts, hr)
		r.Took = max(r.Took, hr.Took)
	}
	return r
}
