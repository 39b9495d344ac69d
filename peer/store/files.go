package store

import (
	"os"
	"sync"
)

// DefaultOpenFiles is the budget of a [Files] that is given none.
const DefaultOpenFiles = 256

// Files keeps files open between uses, at most a budget of them over all the
// stores that share it; the one idle for longest is closed first. When every
// one is in use, the next user waits. Safe for concurrent use.
//
// Not counted are two descriptors for each open [Disk], its journal and its
// folder, and those that walking a path takes for a moment.
type Files struct {
	budget int

	mu      sync.Mutex // guards what follows, and all fields of handles but f
	changed sync.Cond  // a handle became idle, opened, or closed
	open    int        // descriptors in use, being opened or being closed
	handles map[fileKey]*handle
	idle    handle // head of the ring of idle handles, next is the latest used
}

// opener opens the files of one store.
type opener interface {
	// openFile opens the file of that number for what it will be used for.
	openFile(number int) (*os.File, error)
}

type fileKey struct {
	owner  opener
	number int
}

// handle is one open file. Its users hold a reference, and only an idle one is
// closed.
type handle struct {
	f          *os.File
	key        fileKey
	refs       int
	opening    bool
	dropped    bool // close it when the last user is done
	prev, next *handle
}

// NewFiles returns a cache of at most budget open files; 0 stands for
// [DefaultOpenFiles].
func NewFiles(budget int) *Files {
	if budget <= 0 {
		budget = DefaultOpenFiles
	}
	c := &Files{budget: budget, handles: make(map[fileKey]*handle)}
	c.changed.L = &c.mu
	c.idle.next, c.idle.prev = &c.idle, &c.idle
	return c
}

// acquire returns the open file of owner with that number, which stays open until
// release.
func (c *Files) acquire(owner opener, number int) (*handle, error) {
	key := fileKey{owner, number}
	c.mu.Lock()
	for {
		if h := c.handles[key]; h != nil && !h.opening {
			if h.refs == 0 {
				h.unlink()
			}
			h.refs++
			c.mu.Unlock()
			return h, nil
		} else if h == nil && c.open < c.budget {
			break
		} else if h != nil || !c.evict() {
			c.changed.Wait()
		}
	}
	h := &handle{key: key, refs: 1, opening: true}
	c.handles[key] = h
	c.open++
	c.mu.Unlock()
	return c.fill(h)
}

// fill opens the file of a new handle.
func (c *Files) fill(h *handle) (*handle, error) {
	f, err := h.key.owner.openFile(h.key.number)
	c.mu.Lock()
	defer c.mu.Unlock()
	h.f, h.opening = f, false
	c.changed.Broadcast()
	if err != nil {
		delete(c.handles, h.key)
		c.open--
		return nil, err
	}
	return h, nil
}

// release gives a handle back.
func (c *Files) release(h *handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.refs--
	if h.refs > 0 {
		return
	}
	if h.dropped {
		c.close(h)
		return
	}
	h.next, h.prev = c.idle.next, &c.idle
	h.next.prev, h.prev.next = h, h
	if c.open >= c.budget {
		c.changed.Broadcast()
	}
}

// evict closes the file that is idle for longest. It reports whether there was
// one.
func (c *Files) evict() bool {
	h := c.idle.prev
	if h == &c.idle {
		return false
	}
	h.unlink()
	delete(c.handles, h.key)
	c.close(h)
	return true
}

// close closes a handle that is not idle and has no users. It lets go of the lock
// meanwhile, since closing a file on a network can take long.
func (c *Files) close(h *handle) {
	c.mu.Unlock()
	// Whatever a failing close would tell, the last sync has told.
	h.f.Close()
	c.mu.Lock()
	c.open--
	c.changed.Broadcast()
}

// drop closes all files of owner, those in use when their users are done.
func (c *Files) drop(owner opener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for h := c.first(owner); h != nil; h = c.first(owner) {
		if h.opening {
			c.changed.Wait()
			continue
		}
		delete(c.handles, h.key)
		if h.dropped = true; h.refs == 0 {
			h.unlink()
			c.close(h)
		}
	}
}

// first returns any handle of owner.
func (c *Files) first(owner opener) *handle {
	for key, h := range c.handles {
		if key.owner == owner {
			return h
		}
	}
	return nil
}

// unlink takes an idle handle out of the ring.
func (h *handle) unlink() {
	h.prev.next, h.next.prev = h.next, h.prev
	h.prev, h.next = nil, nil
}
