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
	"syscall"
	"time"

	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const (
	// reportEvery is the time between two reports of progress, which also tell that the agent lives. That
	// it has more of a stream it says after lookEvery: others may wait for that.
	reportEvery = time.Second
	lookEvery   = 250 * time.Millisecond
	// silence is how long the caster may say nothing before it counts as gone.
	silence = time.Minute
	// lastProgress is how long an agent without a caster waits for another piece: neighbours may have
	// all of them.
	lastProgress = 10 * time.Second
	// lastRequest is how long an agent without a caster serves its neighbours after the last request.
	lastRequest = 5 * time.Second
	// closing bounds how long an agent takes to remove what is its own.
	closing = 10 * time.Second
	// maxMessage bounds a message, in bytes.
	maxMessage = 64 << 20
)

var (
	errGone    = errors.New("the caster is gone, and the content is not whole")
	errNoStart = errors.New("the caster is gone before it said what to do")
	errEnded   = errors.New("the cast was given up")
)

// Run is an agent from its first message to its end. It reads messages from stdin, writes reports to stdout,
// and why it failed to stderr. The result is the exit status: 0 if the host has the content.
//
// Run ends when the caster says so, when ctx ends, or some time after stdin has. A Read of stdin may
// still be under way then.
func Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (exit int) {
	// Without this, a report to a caster that is gone would kill the process.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	server, err := launch.Serve(stdout)
	if err == nil {
		a := &agent{server: server, out: newReporter(stdout), began: time.Now(), outcome: make(chan error, 1)}
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

// agent is an agent. The goroutine of run owns it.
type agent struct {
	server *launch.Server
	out    *reporter
	began  time.Time // when the Start message came
	given  Start     // that message
	node   *peer.Node
	job    job

	outcome chan error // of the job
	settled bool       // the outcome was reported
	failure error      // why the host does not have the content
}

// job is what a host does with the content. Its methods may be called from any goroutine.
type job interface {
	// run blocks until the host has the content, or its command has ended. Afterwards the node
	// serves on what it has.
	run(ctx context.Context) error
	// progress says how far it is. The caller adds the traffic.
	progress() Progress
	// handle processes a Record or a Release.
	handle(m *Message)
	// close ends the job. It removes what is not whole. It comes after run has returned.
	close() error
}

// run handles messages from the caster until End.
func (a *agent) run(ctx context.Context, stdin io.Reader) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	messages := make(chan *Message)
	go readMessages(ctx, stdin, messages)
	err = a.handleMessages(ctx, messages)
	cancel(err)
	a.out.close()
	closed := make(chan error, 1)
	go func() { closed <- a.close() }()
	select {
	case lost := <-closed:
		return errors.Join(err, lost)
	case <-time.After(closing):
		return errors.Join(err, errors.New("the clean-up takes too long"))
	}
}

// handleMessages is run without the clean-up.
func (a *agent) handleMessages(ctx context.Context, messages <-chan *Message) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last liveness
	var reported time.Time
	held := uint64(0)
	last.note(a.progress(), a.sent(), true)
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				messages, last.orphan = nil, true
				break
			}
			last.heard = time.Now()
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
				a.out.progress(now)
				held, reported = now.Held, time.Now()
			}
			last.note(now, a.sent(), false)
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", errEnded)
		}
		if over, err := a.orphaned(&last); over {
			return err
		}
	}
}

// handle processes a message.
func (a *agent) handle(ctx context.Context, m *Message) error {
	switch {
	case m.Start != nil && a.job != nil:
		return errors.New("second Start message")
	case m.Start != nil:
		a.began, a.given = time.Now(), *m.Start
		if err := a.start(ctx, m.Start); err != nil {
			a.settle(err)
		}
	case m.Record == nil && m.Release == nil: // the caster is still there
	case a.job == nil && a.failure == nil:
		return errors.New("message before Start")
	case a.job != nil:
		a.job.handle(m)
	}
	return nil
}

// start starts the node and the job.
func (a *agent) start(ctx context.Context, s *Start) error {
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

// collectAt is the GOGC of an agent that gets a content. Its heap is small, and its first megabytes come with the
// handshakes of many sessions.
const collectAt = 200

// join starts the node, and returns the job that uses it.
func (a *agent) join(ctx context.Context, s *Start) (job, error) {
	if s.Link != "" {
		debug.SetGCPercent(collectAt)
	}
	if err := a.startNode(s); err != nil {
		return nil, err
	}
	addrs := texts(a.node.Addrs())
	a.out.send(&Report{Ready: &Ready{Addrs: addrs[:min(len(addrs), launch.MaxAddrs)]}})
	meeting, cancel := context.WithTimeout(ctx, casterWait)
	defer cancel()
	if err := a.meetCaster(meeting, s); err != nil {
		return nil, err
	}
	if s.Link != "" {
		return newDownload(a.node, s)
	}
	return newStreaming(a.node, s, a.server.Dir, a.out)
}

// settle reports what the job came to.
func (a *agent) settle(err error) {
	a.settled, a.failure = true, err
	p, seconds := a.progress(), time.Since(a.began).Seconds()
	if err == nil {
		a.out.send(&Report{Done: &Done{Progress: p, Seconds: seconds}})
		return
	}
	f := &Failed{Progress: p, Error: a.describe(err), Seconds: seconds}
	var status *exitError
	if errors.As(err, &status) {
		f.Exit = status.status
	}
	a.out.send(&Report{Failed: f})
}

// end is what becomes of the host with an End message.
func (a *agent) end(e *End) error {
	switch {
	case a.settled:
		return a.failure
	case e.Error != "":
		return fmt.Errorf("%w: %s", errEnded, e.Error)
	}
	return errEnded
}

// orphaned reports whether an agent without a caster has nothing left to do.
func (a *agent) orphaned(l *liveness) (over bool, err error) {
	switch {
	case !l.orphan && time.Since(l.heard) < silence:
		return false, nil
	case a.failure != nil:
		return true, a.failure
	case a.job == nil:
		return true, errNoStart
	case a.settled:
		return time.Since(l.asked) > lastRequest, nil
	case time.Since(l.moved) > lastProgress:
		return true, errGone
	}
	return false, nil
}

// liveness is what an agent without a caster goes by.
type liveness struct {
	orphan bool      // stdin has ended
	heard  time.Time // time of the last message
	moved  time.Time // when something came last
	asked  time.Time // when something was sent last

	bytes, sent int64
}

// note notes how far the host is.
func (l *liveness) note(p Progress, sent int64, first bool) {
	now := time.Now()
	if first {
		l.heard = now
	}
	if in := p.Bytes + p.WAN + p.LAN; first || in != l.bytes {
		l.bytes, l.moved = in, now
	}
	if first || sent != l.sent {
		l.sent, l.asked = sent, now
	}
}

// progress says how far the host is.
func (a *agent) progress() (p Progress) {
	if a.job != nil {
		p = a.job.progress()
	}
	if a.node != nil {
		t := a.node.Stats().Totals.Traffic
		p.WAN, p.LAN = t.WANIn, t.LANIn
		if parts := proto.ClusterParts(a.node.Cluster()); parts > 1 {
			p.Rack = t.Near[parts-1].In
		}
		p.Overwriting = p.Overwriting && t.WANIn+t.LANIn > 0
	}
	return p
}

// sent returns the payload that went to others, in bytes.
func (a *agent) sent() int64 {
	if a.node == nil {
		return 0
	}
	t := a.node.Stats().Totals.Traffic
	return t.WANOut + t.LANOut
}

// close removes what is not whole, and all that the agent had for itself.
func (a *agent) close() (err error) {
	if a.job != nil {
		if !a.settled {
			a.failure = <-a.outcome
		}
		err = a.job.close()
	}
	if a.node != nil {
		_ = a.node.Close() // what it has not flushed is not whole, or was flushed before Done
	}
	return errors.Join(err, a.server.Close())
}

// readMessages reads messages until stdin or ctx ends. It closes the channel if stdin ends.
func readMessages(ctx context.Context, stdin io.Reader, messages chan<- *Message) {
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
}

// describe returns the text of an error in one line. It names paths as the user does, which are the same on all
// hosts: homes and temporary folders are not.
func (a *agent) describe(why error) string {
	names := []string{a.server.Dir, "the temporary folder"}
	if path, err := filepath.Abs(a.given.Dest); err == nil {
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
