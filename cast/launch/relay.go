package launch

import (
	"io"
	"slices"
	"sync"
	"syscall"
)

const (
	// maxUnacked bounds the unacknowledged bytes of a relayed command in each direction.
	maxUnacked = 256 << 10
	// maxFrame bounds the data of a frame, in bytes. It fits a record as base64.
	maxFrame = 32 << 10
)

// Frame is a message between the caster and a relay: an agent that runs a command on another host. Data and Acked are sent in both
// directions, Exited to the caster, and the remaining fields to the relay.
type Frame struct {
	// ID is the number of the command, chosen by the caster.
	ID int `json:"id"`
	// Run starts the command.
	Run *Run `json:"run,omitempty"`
	// Data is a part of its standard input or output, and Acked the number of bytes of Data that were written.
	Data  []byte `json:"data,omitempty"`
	Acked int    `json:"acked,omitempty"`
	// End ends its standard input.
	End bool `json:"end,omitempty"`
	// Signal is sent to it.
	Signal syscall.Signal `json:"signal,omitempty"`
	// Exited ends its output.
	Exited *Exited `json:"exited,omitempty"`
}

// Run is a command line for a host. Shell is the [Shell] of the caster.
type Run struct {
	Host  string `json:"host"`
	Shell Shell  `json:"shell"`
	Line  string `json:"line"`
}

// Exited is the end of a command: the result of [Command.Wait], and the last lines of standard error.
type Exited struct {
	Status int    `json:"status"`
	Stderr string `json:"stderr,omitempty"`
}

// half is the end of a relayed command at the caster or at the relay.
type half struct {
	id   int
	send func(*Frame)

	queue        // received bytes; its lock guards the fields below
	unacked int  // bytes sent
	closed  bool // no more can be sent
}

func newHalf(id int, send func(*Frame)) *half {
	h := &half{id: id, send: send}
	h.init()
	return h
}

// Write sends data. It blocks while too much is not acknowledged.
func (h *half) Write(b []byte) (int, error) {
	for part := range slices.Chunk(b, maxFrame) {
		h.mu.Lock()
		for h.unacked+len(part) > maxUnacked && !h.closed {
			h.changed.Wait()
		}
		h.unacked += len(part)
		closed := h.closed
		h.mu.Unlock()
		if closed {
			return 0, io.ErrClosedPipe
		}
		h.send(&Frame{ID: h.id, Data: slices.Clone(part)})
	}
	return len(b), nil
}

// take processes a received frame. It reports whether the other side stays within its limit.
func (h *half) take(f *Frame) bool {
	h.mu.Lock()
	h.unacked -= f.Acked
	h.mu.Unlock()
	return h.add(f.Data, f.End) <= maxUnacked
}

// copy writes received data to w until the end, and acknowledges it.
func (h *half) copy(w io.Writer) {
	h.queue.copy(w, func(n int) { h.send(&Frame{ID: h.id, Acked: n}) })
}

// close ends both directions. Received data is still written.
func (h *half) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended, h.closed = true, true
	h.changed.Broadcast()
}

// Relay runs commands on other hosts for the caster.
type Relay struct {
	runner func(Shell) Runner
	send   func(*Frame)

	mu      sync.Mutex
	running map[int]*relayed
}

type relayed struct {
	*half
	command Command
}

// NewRelay returns a [Relay] that runs commands with the shell of the caster. send may be called by several goroutines, and may block.
func NewRelay(send func(*Frame)) *Relay {
	return &Relay{runner: func(s Shell) Runner { return s }, send: send, running: map[int]*relayed{}}
}

// Handle processes a frame of the caster.
func (r *Relay) Handle(f *Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.Run != nil {
		r.start(f.ID, f.Run)
	}
	if c := r.running[f.ID]; c != nil {
		c.take(f)
		if f.Signal != 0 {
			c.command.Signal(f.Signal)
		}
	}
}

// start starts a command. The caller holds the lock.
func (r *Relay) start(id int, run *Run) {
	c := &relayed{half: newHalf(id, r.send)}
	stderr := new(tail)
	var err error
	if c.command, err = r.runner(run.Shell).Run(run.Host, run.Line, c, stderr); err != nil {
		go r.send(&Frame{ID: id, Exited: &Exited{Status: 127, Stderr: "mob: " + err.Error()}})
		return
	}
	r.running[id] = c
	go func() {
		c.copy(c.command)
		_ = c.command.Close()
	}()
	go func() {
		status := c.command.Wait()
		r.mu.Lock()
		delete(r.running, id)
		r.mu.Unlock()
		c.close()
		r.send(&Frame{ID: id, Exited: &Exited{Status: status, Stderr: stderr.text()}})
	}()
}

// Close closes the standard streams of the commands.
func (r *Relay) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.running {
		c.close()
	}
}
