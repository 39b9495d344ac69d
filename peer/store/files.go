package store

import (
	"io/fs"
	"sync"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// defaultOpenFiles is the default budget of a [Files].
const defaultOpenFiles = 256

// Files is a cache of open files that the stores of a node share. It keeps at most a
// budget of them open and closes the least recently used first. Safe for concurrent use.
//
// A store whose file system hangs does not block other stores: no file is opened or
// closed under the cache's lock, no store waits until a file of another is closed, and
// one that has no file open may always open one, even if all of the budget is in use.
//
// Not counted are the descriptors of each open [Disk]: its journal and its directory, the
// latter twice, and three times once it is written to; directories on a path while it is walked; files that are being created; and those that are being closed.
type Files struct {
	budget int
	fs     vfs.FS
	state  vfs.FS      // of the state directories
	umask  fs.FileMode // see SetUmask

	mu      sync.Mutex // guards what follows, and all fields of handles but f
	changed sync.Cond  // a file was opened, became idle, or left the cache
	handles map[fileKey]*handle
	idle    handle // head of the ring of idle handles, most recently used first
}

// opener is a store's side of the cache: it opens and closes the store's files.
type opener interface {
	openFile(number int) (vfs.File, error)
	closeFile(f vfs.File)
	// closeLater is closeFile in another goroutine. It does not wait.
	closeLater(f vfs.File)
}

type fileKey struct {
	owner  opener
	number int
}

// handle is one open file, with a reference for each user. It is idle while it has
// none.
type handle struct {
	f          vfs.File
	key        fileKey
	refs       int
	opening    bool
	dropped    bool // not in the cache: the last user closes it
	prev, next *handle
}

// NewFiles returns a cache of at most budget open files; the default is 256.
func NewFiles(budget int) *Files { return NewFilesOn(vfs.OS{}, budget) }

// NewFilesOn is [NewFiles] for stores on another file system than the system's. Their state directories are on it too.
func NewFilesOn(fsys vfs.FS, budget int) *Files {
	if budget <= 0 {
		budget = defaultOpenFiles
	}
	c := &Files{budget: budget, fs: fsys, state: fsys, handles: make(map[fileKey]*handle)}
	c.changed.L = &c.mu
	c.idle.next, c.idle.prev = &c.idle, &c.idle
	return c
}

// NewFilesFor is [NewFiles] for stores of content that a file system shows, such as [vfs.As] and [vfs.Follow]. Their state
// directories are the system's.
func NewFilesFor(content vfs.FS, budget int) *Files {
	c := NewFilesOn(content, budget)
	c.state = vfs.OS{}
	return c
}

// SetUmask has stores create entries without these permissions of their modes in the manifest. It must be called
// before a store is opened.
func (c *Files) SetUmask(umask fs.FileMode) { c.umask = umask.Perm() }

// acquire returns the open file of owner with that number. It stays open until
// release.
func (c *Files) acquire(owner opener, number int) (*handle, error) {
	key := fileKey{owner, number}
	c.mu.Lock()
	for {
		h := c.handles[key]
		switch {
		case h == nil && c.mayOpen(owner):
			return c.open(key)
		case h != nil && !h.opening:
			h.use()
			c.mu.Unlock()
			return h, nil
		}
		c.changed.Wait()
	}
}

// acquireOpen is acquire for a file that is open. It returns nil for one that is not.
func (c *Files) acquireOpen(owner opener, number int) *handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.handles[fileKey{owner, number}]
	if h == nil || h.opening {
		return nil
	}
	h.use()
	return h
}

// mayOpen reports whether owner may open another file now.
func (c *Files) mayOpen(owner opener) bool {
	if len(c.handles) < c.budget || c.idle.next != &c.idle {
		return true
	}
	for key := range c.handles {
		if key.owner == owner {
			return false
		}
	}
	return true
}

// open opens a file, in the place of the least recently used one if the budget is
// spent. It is called with the lock and returns without it.
func (c *Files) open(key fileKey) (*handle, error) {
	evicted := c.evict(key.owner)
	h := &handle{key: key, refs: 1, opening: true}
	c.handles[key] = h
	c.mu.Unlock()

	evicted.close()
	f, err := key.owner.openFile(key.number)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
	h.f, h.opening = f, false
	if err != nil {
		if !h.dropped {
			delete(c.handles, key)
		}
		return nil, err
	}
	return h, nil
}

// put adds a file of owner that is open, in the place of one that is in the cache, and returns
// it as acquire does. It does not wait: while all of the budget is in use, there is one more.
func (c *Files) put(owner opener, number int, f vfs.File) *handle {
	h := &handle{f: f, key: fileKey{owner, number}, refs: 1}
	c.mu.Lock()
	old := c.take(h.key)
	evicted := c.evict(owner)
	c.handles[h.key] = h
	c.changed.Broadcast()
	c.mu.Unlock()
	old.close()
	evicted.close()
	return h
}

// evict takes the least recently used of the idle files out of the cache if the budget is spent. It returns the file if owner
// has to close it.
func (c *Files) evict(owner opener) *handle {
	h := c.idle.prev
	if len(c.handles) < c.budget || h == &c.idle {
		return nil
	}
	h.unlink()
	delete(c.handles, h.key)
	if h.key.owner != owner {
		h.key.owner.closeLater(h.f)
		return nil
	}
	return h
}

// release releases a handle that acquire returned.
func (c *Files) release(h *handle) {
	if c.unused(h) {
		h.close()
	}
}

// unused takes a reference from a handle and reports whether to close it now.
func (c *Files) unused(h *handle) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.refs--
	if h.refs > 0 {
		return false
	}
	c.changed.Broadcast()
	if h.dropped {
		return true
	}
	if len(c.handles) > c.budget {
		delete(c.handles, h.key)
		return true
	}
	h.next, h.prev = c.idle.next, &c.idle
	h.next.prev, h.prev.next = h, h
	return false
}

// drop closes all files of owner. Those in use are closed by their last users.
func (c *Files) drop(owner opener) {
	var idle []*handle
	c.mu.Lock()
	for key := range c.handles {
		if key.owner == owner {
			idle = append(idle, c.take(key))
		}
	}
	c.changed.Broadcast()
	c.mu.Unlock()
	for _, h := range idle {
		h.close()
	}
}

// dropFile closes a file of owner, as drop does.
func (c *Files) dropFile(owner opener, number int) {
	c.mu.Lock()
	h := c.take(fileKey{owner, number})
	c.changed.Broadcast()
	c.mu.Unlock()
	h.close()
}

// take takes a file out of the cache. It returns it if the caller has to close it, since
// it has no users. The caller holds the lock.
func (c *Files) take(key fileKey) *handle {
	h := c.handles[key]
	if h == nil {
		return nil
	}
	delete(c.handles, key)
	h.dropped = true
	if h.refs > 0 {
		return nil
	}
	h.unlink()
	return h
}

// close closes the file of a handle that is not in the cache and has no users. The handle may be nil.
func (h *handle) close() {
	if h != nil {
		h.key.owner.closeFile(h.f)
	}
}

// use adds a reference to a handle.
func (h *handle) use() {
	if h.refs == 0 {
		h.unlink()
	}
	h.refs++
}

// unlink takes an idle handle out of the ring.
func (h *handle) unlink() {
	h.prev.next, h.next.prev = h.next, h.prev
	h.prev, h.next = nil, nil
}
