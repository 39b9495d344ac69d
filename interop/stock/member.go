package stock

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/mobgrid/mob/interop/bench"
)

// member is a client in its seat. Its methods may be called from any goroutine.
type member struct {
	client *Client
	seat   seat

	// mu guards the rest.
	mu     sync.Mutex
	run    *process
	killed bool
	before time.Duration // CPU that does not count
	usage  bench.Usage   // of what was killed
}

// start runs the client, unless it was killed already.
func (m *member) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed {
		return nil
	}
	cmd, err := m.client.start(m.seat)
	if err != nil {
		return err
	}
	m.run, err = startProcess(m.seat.node, cmd, m.seat.log())
	return err
}

// count begins to count CPU now.
func (m *member) count() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		m.before = m.run.used().CPU
	}
}

// kill ends the client for good.
func (m *member) kill() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed {
		return nil
	}
	m.killed = true
	if m.run == nil {
		return nil
	}
	m.usage = m.run.used()
	m.usage.CPU -= min(m.usage.CPU, m.before)
	return m.run.kill()
}

// gone is whether the client was killed; failed is its end by itself.
func (m *member) gone() (killed bool, failed error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed || m.run == nil {
		return m.killed, nil
	}
	select {
	case <-m.run.ended:
		return false, fmt.Errorf("%s on %s ended by itself: %s", m.client.name, seatName(m.seat.node), m.run.lastWords())
	default:
		return false, nil
	}
}

// whole is whether the client has left its mark.
func (m *member) whole() bool {
	_, err := os.Stat(m.seat.mark)
	return err == nil
}
