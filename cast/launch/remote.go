package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

var errWindow = errors.New("the relay sends more than its window")

// remote is the [Runner] of a started agent, see [Relay].
type remote struct {
	process *Process
	shell   Runner        // of the caster
	ids     *atomic.Int64 // the last ID of all relays: an agent may send frames of a former login

	mu      sync.Mutex
	lost    bool
	running map[int]*remoteCommand
}

// remoteCommand is a command of a relay.
type remoteCommand struct {
	*half
	relay  *remote
	stderr io.Writer
	status int
	lost   bool          // the relay was lost
	done   chan struct{} // closed when the output was written
}

// Name implements [Runner].
func (r *remote) Name() string { return r.shell.Name() }

// Run implements [Runner].
func (r *remote) Run(host, line string, stdout, stderr io.Writer) (Command, error) {
	r.mu.Lock()
	c := &remoteCommand{half: newHalf(int(r.ids.Add(1)), r.send), relay: r, stderr: stderr, done: make(chan struct{})}
	if r.running == nil {
		r.running = map[int]*remoteCommand{}
	}
	r.running[c.id] = c
	lost := r.lost
	r.mu.Unlock()
	go func() {
		defer close(c.done)
		c.copy(stdout)
	}()
	if lost {
		r.lose()
	}
	shell, _ := r.shell.(Shell)
	r.send(&Frame{ID: c.id, Run: &Run{Host: host, Shell: shell, Line: line}})
	return c, nil
}

// relayMessage is a message of an agent or to it with a frame.
type relayMessage struct {
	Relay *Frame `json:"relay"`
}

func (r *remote) send(f *Frame) { _ = r.process.Send(&relayMessage{f}) } // the commands end with the process

// take processes a record, unless it is not for the remote.
func (r *remote) take(record json.RawMessage) bool {
	if !bytes.HasPrefix(record, []byte(`{"relay":`)) {
		return false
	}
	var m relayMessage
	if json.Unmarshal(record, &m) != nil || m.Relay == nil {
		return true
	}
	r.mu.Lock()
	c := r.running[m.Relay.ID]
	r.mu.Unlock()
	if c == nil {
		return true
	}
	if !c.take(m.Relay) {
		r.process.killFor(errWindow)
	}
	if e := m.Relay.Exited; e != nil {
		c.exit(e, false)
	}
	return true
}

// lose ends the commands after the relay has exited.
func (r *remote) lose() {
	r.mu.Lock()
	r.lost = true
	all := slices.Collect(maps.Values(r.running))
	r.mu.Unlock()
	for _, c := range all {
		c.exit(&Exited{Status: connectionLost}, true)
	}
}

// wait waits until all commands have exited.
func (r *remote) wait(ctx context.Context) {
	for {
		r.mu.Lock()
		var one *remoteCommand
		for _, one = range r.running {
			break
		}
		r.mu.Unlock()
		if one == nil {
			return
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return
		}
	}
}

// exit ends the command, once.
func (c *remoteCommand) exit(e *Exited, lost bool) {
	c.relay.mu.Lock()
	if _, ok := c.relay.running[c.id]; ok {
		delete(c.relay.running, c.id)
		_, _ = io.WriteString(c.stderr, e.Stderr)
		c.status, c.lost = e.Status, lost
	}
	c.relay.mu.Unlock()
	c.close()
}

// Close implements [Command].
func (c *remoteCommand) Close() error {
	c.send(&Frame{ID: c.id, End: true})
	return nil
}

// Wait implements [Command].
func (c *remoteCommand) Wait() int {
	<-c.done
	return c.status
}

// Signal implements [Command]. The command may be on a host that does not answer, so SIGKILL always ends it here.
func (c *remoteCommand) Signal(s syscall.Signal) {
	c.send(&Frame{ID: c.id, Signal: s})
	if s == syscall.SIGKILL {
		c.exit(&Exited{Status: 128 + int(s)}, false)
	}
}
