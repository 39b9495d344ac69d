package agent

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/cast/launch"
)

const (
	// maxOutput bounds the queued lines of a command and frames of a relay.
	maxOutput = 64
	// otherReports is the number of queued reports without these: Ready, Progress, and Done or Failed.
	otherReports = 3
	// lastReports bounds the wait for the last reports to be written.
	lastReports = 2 * time.Second
)

// reporter writes reports of one login in order. If the caster does not read, only output blocks. Its methods may be called from any
// goroutine.
type reporter struct {
	queue  chan *Report             // has room for all reports
	lines  chan struct{}            // a token for each Output or Relay in queue
	latest atomic.Pointer[Progress] // of the Progress in queue, nil without one
	ended  chan struct{}            // closed by close
	idle   chan struct{}            // closed after the last write
}

func newReporter(w io.Writer) *reporter {
	r := &reporter{
		queue: make(chan *Report, maxOutput+otherReports), lines: make(chan struct{}, maxOutput),
		ended: make(chan struct{}), idle: make(chan struct{}),
	}
	go r.write(w)
	return r
}

// write writes queued reports until close. After an error it drops them: the agent notices a lost caster by its stdin.
func (r *reporter) write(w io.Writer) {
	defer close(r.idle)
	failed := false
	for {
		var next *Report
		select {
		case next = <-r.queue:
		case <-r.ended:
			select {
			case next = <-r.queue:
			default:
				return
			}
		}
		if next.Output != nil || next.Relay != nil {
			<-r.lines
		}
		if next.Progress != nil {
			next.Progress = r.latest.Swap(nil)
		}
		failed = failed || launch.WriteRecord(w, next) != nil
	}
}

// send queues a report.
func (r *reporter) send(rep *Report) { r.queue <- rep }

// progress queues a Progress, or replaces the queued one.
func (r *reporter) progress(p Progress) {
	if r.latest.Swap(&p) == nil {
		r.queue <- &Report{Progress: &p}
	}
}

// output queues a line of a command.
func (r *reporter) output(line string) { r.wait(&Report{Output: &line}) }

// relay queues a frame.
func (r *reporter) relay(f *launch.Frame) { r.wait(&Report{Relay: f}) }

// wait queues a report. It blocks while many are queued.
func (r *reporter) wait(rep *Report) {
	select {
	case r.lines <- struct{}{}:
		r.queue <- rep
	case <-r.ended:
	}
}

// end drops later output.
func (r *reporter) end() { close(r.ended) }

// close waits for queued reports to be written, for two seconds at most.
func (r *reporter) close() {
	r.end()
	select {
	case <-r.idle:
	case <-time.After(lastReports):
	}
}
