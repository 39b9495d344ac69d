package cast

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

// host is a destination host of a cast.
type host struct {
	caster     *caster
	index      int
	dest, exec string           // after Expand
	output     string           // the absolute path of the copy, in a gather
	ready      bool             // a Ready was received; of the goroutine of read
	node       libpeer.AddrInfo // of the last Ready; of the goroutine of read
	neighbor   atomic.Bool      // a short content comes from a neighbor

	ctx    context.Context         // ends when the agent must end
	cancel context.CancelCauseFunc // with nil if the host is done

	mu       sync.Mutex
	is       HostResult // Took is set by settle
	changed  bool       // since the last call of look
	lastSeen time.Time
	answered bool            // its content is fetched, or it has none, in a gather
	moved    int64           // the most bytes that it reported, of the content and of traffic
	process  *launch.Process // nil before it runs
}

func newHost(c *caster, index int) (*host, error) {
	h := &host{caster: c, index: index, is: HostResult{Host: c.cfg.Hosts[index], Phase: Waiting, Moved: c.began}}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	var err error
	if h.dest, err = h.is.Expand(c.cfg.Dest); err == nil {
		h.exec, err = h.is.Expand(c.cfg.Exec)
	}
	return h, err
}

// run runs the agent on the host until the cast is over or the host is given up.
func (h *host) run() {
	p, err := h.caster.launcher.Start(h.ctx, h.is.Name, h.is.Cluster, func(phase string) { h.enter(Phase(phase)) })
	for err == nil {
		if h.attend(p); !p.Lost() || h.ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		h.process = nil // Attach has its own timeout
		h.mu.Unlock()
		p, err = h.caster.launcher.Attach(h.ctx, p, h.is.Cluster)
	}
	h.fail(err)
}

// attend exchanges messages with the agent until it has exited, or its relay was lost.
func (h *host) attend(p *launch.Process) {
	h.mu.Lock()
	h.process, h.lastSeen = p, time.Now()
	h.mu.Unlock()
	h.ready = false
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.read(p)
	}()
	err := h.sendMessages(p, ended)
	if err == nil {
		err = h.end(p)
	}
	if err != nil {
		p.Kill()
	}
	select {
	case <-ended:
	case <-time.After(endWait):
		p.Kill()
		<-ended
	}
}

// end sends End to the agent.
func (h *host) end(p *launch.Process) error {
	end := new(agent.End)
	if why := context.Cause(h.ctx); !errors.Is(why, context.Canceled) {
		end.Error = agent.OneLine(why)
	}
	if h.caster.ending.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), endWait)
		defer cancel()
		p.WaitRelayed(ctx)
	}
	err := p.Send(&agent.Message{End: end})
	p.CloseStdin()
	return err
}

var errExited = errors.New("the agent has exited")

// sendMessages sends the messages for the agent until the cast is over or the agent has exited.
func (h *host) sendMessages(p *launch.Process, ended <-chan struct{}) error {
	s := h.caster.source
	tick := time.NewTicker(keepalive)
	defer tick.Stop()
	ready := s.ready
	var next, released uint64
	var changed <-chan struct{}
	for {
		if ready == nil {
			var records [][]byte
			var first uint64
			records, first, changed = s.records.from(next)
			next = max(next, first)
			for _, r := range records {
				if err := p.Send(&agent.Message{Record: r, Number: next}); err != nil {
					return err
				}
				next++
			}
			if first > released {
				released = first
				if err := p.Send(&agent.Message{Release: &first}); err != nil {
					return err
				}
			}
		}
		select {
		case <-ready:
			ready = nil
			if err := h.sendStart(p, s.neighborOf(h, p)); err != nil {
				return err
			}
			h.enter(Start)
		case <-changed:
		case <-tick.C:
			if err := p.Send(&agent.Message{}); err != nil {
				return err
			}
		case <-h.ctx.Done():
			return nil
		case <-ended:
			return errExited
		}
	}
}

// sendStart sends the Start message, with a short content or the URLs of the neighbor that has it.
func (h *host) sendStart(p *launch.Process, neighbor []string) error {
	start, err := h.start()
	if h.neighbor.Store(neighbor != nil); neighbor != nil {
		start.Neighbor, start.Manifest, start.Content = neighbor, nil, nil
	}
	if err == nil {
		err = p.Send(&agent.Message{Start: start})
	}
	if err != nil {
		h.fail(err)
	}
	return err
}

// start returns the Start message.
func (h *host) start() (*agent.Start, error) {
	s := h.caster.source.start
	s.Host, s.Cluster, s.Dest, s.Exec = h.is.Name, h.is.Cluster, h.dest, h.exec
	if h.caster.source.handed.Load() {
		return &s, nil
	}
	if s.Serve != "" {
		s.Name = gatherName(h.is.Name)
	}
	return &s, h.admit(&s)
}

// admit makes the agent a member with its own key.
func (h *host) admit(s *agent.Start) error {
	n := h.caster.node
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return err
	}
	grant, err := n.sign(key, h.is.Cluster, membership.DefaultRoles)
	if err != nil {
		return err
	}
	s.Key, err = crypto.MarshalPrivateKey(key)
	s.Network, s.Grant = n.secret.ID().String(), string(grant.PEM())
	s.Caster = agent.Info(n.Node)
	return err
}

// read handles the reports of the agent until it has exited. An agent that sends an invalid report is killed.
func (h *host) read(p *launch.Process) {
	var invalid error
	for {
		record, err := p.Next()
		if err != nil {
			break
		}
		var r agent.Report
		if invalid != nil || json.Unmarshal(record, &r) != nil {
			continue
		}
		if invalid = h.take(&r); invalid != nil {
			h.fail(invalid)
			p.Kill()
		}
	}
	if _, line := p.Wait(); !p.Lost() {
		h.fail(errors.New(line))
	}
}

// take handles a report. It fails if the report is invalid.
func (h *host) take(r *agent.Report) error {
	h.received()
	switch {
	case r.Ready != nil && h.ready:
		return errors.New("the host sent a second Ready report")
	case r.Ready != nil && len(r.Ready.Addrs) > launch.MaxAddrs:
		return fmt.Errorf("the host sent %d addresses, more than %d", len(r.Ready.Addrs), launch.MaxAddrs)
	case r.Ready != nil:
		h.ready, h.node = true, *r.Ready
		h.enter(Fetching)
		h.caster.dials.start(h.ctx, *r.Ready)
	case h.output != "":
		return h.takeServed(r)
	case r.Missing && h.neighbor.Load():
		return h.sendStart(h.process, nil)
	case r.Progress != nil:
		h.progress(*r.Progress)
	case r.Output != nil && h.caster.cfg.Exec == "":
		return errors.New("the host sent output of a command, and runs none")
	case r.Output != nil:
		h.caster.send(Event{Index: h.index, Output: r.Output})
	case r.Done != nil:
		h.progress(*r.Done)
		h.settle(Done, "", 0)
	case r.Failed != nil:
		h.progress(r.Failed.Progress)
		h.settle(Failed, agent.Line(r.Failed.Error), r.Failed.Exit)
	}
	return nil
}

// received records the time of a report.
func (h *host) received() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastSeen = time.Now()
}

// progress records a report of the host.
func (h *host) progress(p Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.is.settled() {
		return
	}
	if moved := p.Bytes + p.WAN + p.LAN; moved > h.moved {
		h.moved, h.is.Moved = moved, time.Now()
	}
	p.Waiting = agent.Line(p.Waiting)
	if c := h.caster; c.source.handed.Load() {
		if h.neighbor.Load() || proto.SharedParts(h.is.Cluster, c.node.Cluster()) > 0 {
			p.LAN = p.Bytes
		} else {
			p.WAN = p.Bytes
		}
		if (h.neighbor.Load() || h.is.Cluster == c.node.Cluster()) && proto.ClusterParts(h.is.Cluster) > 1 {
			p.Rack = p.Bytes
		}
	}
	h.is.Progress, h.changed = p, true
}

// enter records a phase.
func (h *host) enter(p Phase) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.is.settled() {
		h.is.Phase, h.is.Moved, h.changed = p, time.Now(), true
	}
}

// fail records that the host failed, unless the cast is over.
func (h *host) fail(why error) {
	if h.ctx.Err() == nil {
		h.settle(Failed, agent.OneLine(why), 0)
	}
}

// settle records the outcome of the host, once. It reports whether this is the outcome.
func (h *host) settle(p Phase, why string, exit int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.is.settled() {
		return false
	}
	h.is.Phase, h.is.Error, h.is.Waiting = p, why, ""
	h.is.Overwriting = h.is.Overwriting && p == Failed
	if h.exec != "" && (p == Done || exit != 0) {
		h.is.Exit = &exit
	}
	h.is.Took, h.changed = time.Since(h.caster.began), true
	h.caster.settled <- struct{}{} // has capacity for all hosts
	return true
}

// settled reports whether the host is done or has failed.
func (r *HostResult) settled() bool { return r.Phase == Done || r.Phase == Failed }

// silent reports whether the agent has not reported for too long. The hosts behind a relay that is silent are given more time: until
// it is killed, and the caster logs in to them again.
func (h *host) silent(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.process != nil && !h.is.settled() &&
		now.Sub(h.lastSeen) > h.caster.silence+time.Duration(h.process.Relays())*relaySilence
}

// giveUp fails the host, and ends its agent.
func (h *host) giveUp(why string) {
	h.settle(Failed, why, 0)
	h.cancel(errors.New(why))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.process != nil {
		time.AfterFunc(killWait, h.process.Kill)
	}
}

// look returns the state of the host, and reports whether it has changed since the last call.
func (h *host) look(now time.Time) (r HostResult, changed bool) {
	h.mu.Lock()
	changed, h.changed = h.changed, false
	h.mu.Unlock()
	return h.now(now), changed
}

// now returns the state of the host.
func (h *host) now(at time.Time) HostResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.is
	if !r.settled() {
		r.Took = at.Sub(h.caster.began)
	}
	return r
}
