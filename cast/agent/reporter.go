package agent

import (
	"io"
	"sync"
	"time"

	"github.com/mobgrid/mob/cast/launch"
)

const (
	// maxOutput bounds the queued lines of a command.
	maxOutput = 64
	// lastReports bounds the wait for the last reports to be written.
	lastReports = 2 * time.Second
)

// reporter writes reports in order. If the caster does not read, the output of a command blocks; all other reports are few. Its
// methods may be called from any goroutine.
type reporter struct {
	w    io.Writer
	idle chan struct{} // closed after the last write

	mu     sync.Mutex
	change sync.Cond // of the fields below
	queue  []*Report
	lines  int // of Output in queue
	closed bool
}

func newReporter(w io.Writer) *reporter {
	r := &reporter{w: w, idle: make(chan struct{})}
	r.change.L = &r.mu
	go r.write()
	return r
}

// write writes queued reports until close. After an error it drops them: the agent notices a lost caster by its stdin.
func (r *reporter) write() {
	defer close(r.idle)
	var err error
	for {
		r.mu.Lock()
		for len(r.queue) == 0 && !r.closed {
			r.change.Wait()
		}
		if len(r.queue) == 0 {
			r.mu.Unlock()
			return
		}
		next := r.queue[0]
		r.queue = r.queue[1:]
		if next.Output != nil {
			r.lines--
		}
		r.change.Broadcast()
		r.mu.Unlock()
		if err == nil {
			err = launch.WriteRecord(r.w, next)
		}
	}
}

// send queues a report.
func (r *reporter) send(rep *Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, rep)
	r.change.Broadcast()
}

// progress queues a Progress, or replaces the queued one.
func (r *reporter) progress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.queue {
		if q.Progress != nil {
			*q.Progress = p
			return
		}
	}
	r.queue = append(r.queue, &Report{Progress: &p})
	r.change.Broadcast()
}

// output queues a line of a command. It blocks while many are queued.
func (r *reporter) output(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.lines >= maxOutput && !r.closed {
		r.change.Wait()
	}
	if r.closed {
		return
	}
	r.queue = append(r.queue, &Report{Output: &Output{Line: line}})
	r.lines++
	r.change.Broadcast()
}

// close waits for queued reports to be written, for two seconds at most.
func (r *reporter) close() {
	r.mu.Lock()
	r.closed = true
	r.change.Broadcast()
	r.mu.Unlock()
	select {
	case <-r.idle:
	case <-time.After(lastReports):
	}
}
