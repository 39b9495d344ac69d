package launch

import (
	"context"
	"slices"
	"sync"
)

const (
	// maxPuts bounds the concurrent uploads by the remote shell to hosts of a depot, where downloads from neighbors fail.
	maxPuts = 4
	// maxFailures bounds the failed downloads from neighbors while none succeeds. Then the remote shell uploads the archive to all
	// hosts.
	maxFailures = 2
)

// depot schedules the transfers of the archive to the hosts of one cluster and platform. The first host gets it from the remote
// shell. Each host that has it serves one host at a time, so the number of servers doubles.
type depot struct {
	mu       sync.Mutex
	waiting  []*claim
	servers  []*server
	puts     int  // running uploads that have not stalled
	failures int  // of downloads from neighbors
	works    bool // a download has succeeded
}

// server is a host that serves the archive.
type server struct {
	Hello
	busy bool
}

// claim is the turn of a host to get the archive.
type claim struct {
	shell   bool          // only from the remote shell
	granted chan struct{} // closed at its turn
	from    *server       // nil for the remote shell
	counted bool          // in puts
}

// wait waits for a host's turn. The caller ends the claim.
func (d *depot) wait(ctx context.Context, shell bool) (*claim, error) {
	c := &claim{shell: shell, granted: make(chan struct{})}
	d.mu.Lock()
	d.waiting = append(d.waiting, c)
	d.grant()
	d.mu.Unlock()
	select {
	case <-c.granted:
		return c, nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.waiting, c); i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
		return nil, context.Cause(ctx)
	}
	return c, nil // granted before the lock was taken
}

// grant grants the claims while servers are free. The caller holds the lock.
func (d *depot) grant() {
	blocked := d.failures >= maxFailures && !d.works
	d.waiting = slices.DeleteFunc(d.waiting, func(c *claim) bool {
		if c.shell || blocked {
			return d.put(c, maxPuts)
		}
		i := slices.IndexFunc(d.servers, func(s *server) bool { return !s.busy })
		if i < 0 {
			return len(d.servers) == 0 && d.put(c, 1)
		}
		c.from = d.servers[i]
		c.from.busy = true
		close(c.granted)
		return true
	})
}

// put grants a claim on the remote shell, if fewer than limit uploads are running. The caller holds the lock.
func (d *depot) put(c *claim, limit int) bool {
	if d.puts >= limit {
		return false
	}
	d.puts++
	c.counted = true
	close(c.granted)
	return true
}

// stalled records that a claim makes no progress. Other claims do not wait for it, but it may still succeed.
func (d *depot) stalled(c *claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.uncount(c)
	if c.from != nil {
		c.from.busy = false
	}
	d.grant()
}

// uncount removes a claim from puts. The caller holds the lock.
func (d *depot) uncount(c *claim) {
	if c.counted {
		c.counted = false
		d.puts--
	}
}

// end ends a claim. A server whose download failed is not used again.
func (d *depot) end(c *claim, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.uncount(c)
	switch {
	case c.from == nil:
	case ok:
		c.from.busy, d.works = false, true
	default:
		d.failures++
		d.drop(c.from)
	}
	d.grant()
}

func (d *depot) add(s *server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.servers = append(d.servers, s)
	d.grant()
}

func (d *depot) remove(s *server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(s)
	d.grant()
}

// drop removes a server, if it is one. The caller holds the lock.
func (d *depot) drop(s *server) {
	d.servers = slices.DeleteFunc(d.servers, func(other *server) bool { return other == s })
}
