package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

const (
	// reportEvery is the time between two reports of progress, which are also keepalives. More of a stream is reported after
	// lookEvery, since other hosts may wait for that.
	reportEvery = time.Second
	lookEvery   = 250 * time.Millisecond
	// silence bounds the time without messages from the caster.
	silence = time.Minute
	// lastProgress bounds the wait of an agent without a caster for another piece. Neighbors may have all pieces.
	lastProgress = 10 * time.Second
	// lastRequest bounds the time that an agent without a caster serves its neighbors after the last request.
	lastRequest = 5 * time.Second
	// attachWait bounds the time that an agent without a caster waits for another login, if there may be one. Then the caster has
	// given it up.
	attachWait = 35 * time.Second
	// closing bounds the time of the cleanup.
	closing = 10 * time.Second
	// maxMessage bounds a message, in bytes.
	maxMessage = 64 << 20
)

var (
	errLost    = errors.New("lost the caster before the transfer completed")
	errNoStart = errors.New("lost the caster before it sent Start")
	errEnded   = errors.New("the cast was given up")
)

// Run runs an agent. It reads messages from stdin, writes reports to stdout and an error to stderr, and returns the exit status: 0
// if the host has the content.
//
// Run ends with an End message, with ctx, or some time after stdin. A Read of stdin may outlast it.
func Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (exit int) {
	// Without this, a report to a lost caster would kill the process.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	server, err := launch.Serve(stdout)
	if err == nil {
		a := &agent{server: server, outcome: make(chan error, 1)}
		a.open(stdout)
		if err = a.run(ctx, stdin); err != nil {
			err = errors.New(a.describe(err))
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "mob:", err)
		return 1
	}
	return 0
}

// agent is owned by the goroutine of run.
type agent struct {
	server *launch.Server
	out    atomic.Pointer[reporter] // of the last login
	relay  *launch.Relay
	given  Start
	ready  *Report // nil before it was sent
	logins int     // after the first
	node   *peer.Node
	job    job

	outcome chan error // of the job
	settled bool       // the outcome was reported
	failure error      // the reason why the host does not have the content
}

// job receives the content on a host. Its methods may be called from any goroutine.
type job interface {
	// run blocks until the host has the content, or its command has exited. Afterwards the node still serves.
	run(ctx context.Context) error
	// progress returns the state, without the traffic.
	progress() Progress
	// close ends the job after run has returned, and removes an incomplete transfer.
	close() error
}

// run handles messages from the caster until End, and cleans up.
func (a *agent) run(ctx context.Context, stdin io.Reader) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	err = a.handleMessages(ctx, readMessages(ctx, stdin))
	cancel(err)
	a.out.Load().close()
	closed := make(chan error, 1)
	go func() { closed <- a.close() }()
	select {
	case lost := <-closed:
		return errors.Join(err, lost)
	case <-time.After(closing):
		return errors.Join(err, errors.New("the cleanup takes too long"))
	}
}

// handleMessages handles messages until End, or until an agent without a caster has no more to do.
func (a *agent) handleMessages(ctx context.Context, messages <-chan *Message) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	now := time.Now()
	last := liveness{received: now, moved: now, asked: now}
	var reported time.Time
	held := uint64(0)
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				messages, last.orphan = nil, true
				break
			}
			last.received = time.Now()
			if m.Relay != nil {
				a.relay.Handle(m.Relay)
				break
			}
			if m.End != nil {
				return a.end(m.End)
			}
			if err := a.handle(ctx, m); err != nil {
				return err
			}
		case err := <-a.outcome:
			a.settle(err)
		case <-tick.C:
			now := a.progress()
			if now.Held != held || time.Since(reported) >= reportEvery {
				a.out.Load().progress(now)
				held, reported = now.Held, time.Now()
			}
			last.note(now, a.traffic())
			if in, out := a.server.Attached(); out != nil {
				messages = a.attach(ctx, in, out)
				last.orphan, last.received = false, time.Now()
			}
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", errEnded)
		}
		if over, err := a.orphaned(&last); over {
			return err
		}
	}
}

// open starts the reporter and the relay of a login.
func (a *agent) open(out io.Writer) {
	r := newReporter(out)
	a.out.Store(r)
	a.relay = launch.NewRelay(r.relay)
}

// attach continues with another login of the caster, which does not know what the former one received. A write to that may block.
func (a *agent) attach(ctx context.Context, in io.Reader, out io.Writer) <-chan *Message {
	a.logins++
	a.relay.Close()
	a.out.Load().end()
	a.open(out)
	if a.ready != nil {
		a.out.Load().send(a.ready)
	}
	if a.settled {
		a.settle(a.failure)
	}
	return readMessages(ctx, in)
}

// handle processes a message.
func (a *agent) handle(ctx context.Context, m *Message) error {
	switch {
	case m.Start != nil && (a.job != nil || a.failure != nil):
		if a.logins--; a.logins < 0 {
			return errors.New("second Start message")
		}
	case m.Start != nil:
		a.given = *m.Start
		if err := a.start(ctx, m.Start); err != nil {
			a.settle(err)
		}
	case m.Record == nil && m.Release == nil: // a keepalive
	case a.job == nil && a.failure == nil:
		return errors.New("message before Start")
	default:
		if s, ok := a.job.(*streaming); ok { // an invalid message fails run
			s.handle(m)
		}
	}
	return nil
}

// start starts the node and the job.
func (a *agent) start(ctx context.Context, s *Start) error {
	switch {
	case s.Neighbor != nil && !unseal(s, sealedTimeout):
		a.out.Load().send(&Report{Missing: true})
		return nil
	case s.Neighbor == nil && s.Seal != nil:
		sealed, err := seal(s)
		if err != nil {
			return err
		}
		a.server.Offer(sealed)
	}
	j, err := newHanded(s, a.server.Dir)
	if j == nil && err == nil {
		j, err = a.join(ctx, s)
	}
	if err != nil {
		return err
	}
	a.job = j
	go func() { a.outcome <- j.run(ctx) }()
	return nil
}

// collectAt is the GOGC of an agent without a stream. Its heap is small, and the handshakes of many sessions take its first
// megabytes.
const collectAt = 200

// join starts the node, and returns the job that uses it.
func (a *agent) join(ctx context.Context, s *Start) (job, error) {
	if s.Stream == nil {
		debug.SetGCPercent(collectAt)
	}
	if err := a.startNode(s); err != nil {
		return nil, err
	}
	ready := Info(a.node)
	ready.Addrs = ready.Addrs[:min(len(ready.Addrs), launch.MaxAddrs)]
	a.ready = &Report{Ready: &ready}
	a.out.Load().send(a.ready)
	meeting, cancel := context.WithTimeout(ctx, casterWait)
	defer cancel()
	a.meetCaster(meeting, s.Caster)
	switch {
	case s.Serve != "":
		return &serving{node: a.node, start: s}, nil
	case s.Link != "":
		return newDownload(a.node, s)
	}
	return newStreaming(a.node, s, a.server.Dir, func(line string) { a.out.Load().output(line) })
}

// settle reports the outcome of the job.
func (a *agent) settle(err error) {
	a.settled, a.failure = true, err
	p := a.progress()
	r := &Report{Done: &p}
	if err != nil {
		r = &Report{Failed: &Failed{Progress: p, Error: a.describe(err)}}
		if status, ok := errors.AsType[*exitError](err); ok {
			r.Failed.Exit = status.status
		}
	} else if s, ok := a.job.(*serving); ok {
		r = &Report{Served: s.served()}
	}
	a.out.Load().send(r)
}

// end returns the result of the agent after an End message.
func (a *agent) end(e *End) error {
	switch {
	case a.settled:
		return a.failure
	case e.Error != "":
		return fmt.Errorf("%w: %s", errEnded, e.Error)
	}
	return errEnded
}

// orphaned reports whether an agent without a caster has no more to do.
func (a *agent) orphaned(l *liveness) (over bool, err error) {
	switch {
	case !l.orphan && time.Since(l.received) < silence:
		return false, nil
	case a.server.Attachable() && (!a.settled || a.given.Serve != "") && time.Since(l.received) < attachWait:
		return false, nil
	case a.failure != nil:
		return true, a.failure
	case a.job == nil:
		return true, errNoStart
	case a.settled:
		return time.Since(l.asked) > lastRequest, nil
	case a.given.Serve != "", time.Since(l.moved) > lastProgress:
		return true, errLost
	}
	return false, nil
}

// liveness decides when an agent without a caster ends.
type liveness struct {
	orphan   bool      // stdin has ended
	received time.Time // the last message
	moved    time.Time // the last progress
	asked    time.Time // the last payload that was sent

	bytes, sent int64
}

// note records the state of the host.
func (l *liveness) note(p Progress, t peer.Traffic) {
	if in := p.Bytes + t.WANIn + t.LANIn; in != l.bytes {
		l.bytes, l.moved = in, time.Now()
	}
	if sent := t.WANOut + t.LANOut; sent != l.sent {
		l.sent, l.asked = sent, time.Now()
	}
}

// progress returns the state of the host.
func (a *agent) progress() (p Progress) {
	if a.job != nil {
		p = a.job.progress()
	}
	t := a.traffic()
	p.WAN, p.LAN = t.WANIn, t.LANIn
	if parts := proto.ClusterParts(a.given.Cluster); parts > 1 {
		p.Rack = t.Near[parts-1].In
	}
	p.Overwriting = p.Overwriting && (a.node == nil || t.WANIn+t.LANIn > 0)
	return p
}

// traffic returns the traffic of the node, zero without one.
func (a *agent) traffic() (t peer.Traffic) {
	if a.node != nil {
		t = a.node.Stats().Totals.Traffic
	}
	return t
}

// close removes an incomplete transfer, and all files of the agent.
func (a *agent) close() (err error) {
	if a.job != nil {
		if !a.settled {
			a.failure = <-a.outcome
		}
		err = a.job.close()
	}
	a.relay.Close()
	if a.node != nil {
		_ = a.node.Close() // complete transfers were flushed before Done
	}
	return errors.Join(err, a.server.Close())
}

// readMessages reads messages until stdin or ctx ends. It closes the channel if stdin ends.
func readMessages(ctx context.Context, stdin io.Reader) <-chan *Message {
	messages := make(chan *Message)
	go func() {
		lines := bufio.NewScanner(stdin)
		lines.Buffer(nil, maxMessage)
		for lines.Scan() {
			m := new(Message)
			if json.Unmarshal(lines.Bytes(), m) != nil {
				break
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
		close(messages)
	}()
	return messages
}

// describe returns the text of an error in one line. It names paths as the user did, since homes and temporary directories differ
// between hosts.
func (a *agent) describe(why error) string {
	names := []string{a.server.Dir, "the temporary directory"}
	if path, err := vfs.Abs(a.given.Dest); err == nil {
		for given := filepath.Clean(a.given.Given); strings.Contains(given, "%"); given = filepath.Dir(given) {
			names = append(names, path, given)
			path = filepath.Dir(path)
		}
	}
	if home, err := os.Getwd(); err == nil {
		names = append(names, home+"/", "")
	}
	return strings.NewReplacer(names...).Replace(OneLine(why))
}
