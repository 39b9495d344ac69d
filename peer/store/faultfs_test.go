package store_test

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// faultFS is a file system in memory, with the directory /. Any call can be made to fail, before it is done or after, and
// the power can go. What was not flushed is lost with the power: each unflushed write by itself, so that they are torn and
// out of order, and each name whose directory was not flushed. A flush that fails loses what it should have flushed, and
// reports that once.
type faultFS struct {
	// Fold makes names that differ in case only the same.
	Fold bool

	mu    sync.Mutex
	root  *faultNode
	inode uint64 // the last one
	clock int64  // increases with each change
	calls int
	plan  *faultPlan
	dead  bool // the power is off, or the process was killed
	lost  int  // flushes that failed
}

// faultPlan makes calls fail.
type faultPlan struct {
	// At is the number of the first call that fails, from 0.
	At int
	// Times is the number of calls fail from then on.
	Times int
	// Err is the error that they return.
	Err error
	// Done makes them fail after they were done, else they do nothing. A write does
	// half of what it should.
	Done bool
	// Off makes all later calls fail too: the process is killed, or the power goes.
	Off bool
	// Only, if not nil, are the calls that are counted, such as "sync".
	Only func(call, name string) bool
	// Hang, if not nil, has the call wait until it is closed, without an error.
	Hang chan struct{}
	// Do, if not nil, is called before the call, which then has no error.
	Do func()
}

func newFaultFS() *faultFS {
	f := &faultFS{}
	f.root = f.newNode(fs.ModeDir | 0o755)
	f.root.synced()
	return f
}

// SetPlan counts calls from now on, and makes those fail that p says, which may be nil. It
// turns the power on.
func (f *faultFS) SetPlan(p *faultPlan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.lost, f.plan, f.dead = 0, 0, p, false
}

// Calls returns the number of calls since SetPlan.
func (f *faultFS) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// LostFlushes returns how many flushes, and closings of files with writes that were not
// flushed, have failed since SetPlan.
func (f *faultFS) LostFlushes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// errDead is the error of all calls while the power is off.
const errDead = syscall.EIO

// begin counts a call. If err is not nil the call returns that and does nothing, or half of
// it if part is true. Else it returns the result of after.
func (f *faultFS) begin(call, name string) (after func(error) error, part bool, err error) {
	f.mu.Lock()
	keep := func(err error) error { return err }
	if f.dead {
		f.mu.Unlock()
		return nil, false, &fs.PathError{Op: call, Path: name, Err: errDead}
	}
	p := f.plan
	if p == nil || p.Only != nil && !p.Only(call, name) {
		f.mu.Unlock()
		return keep, false, nil
	}
	n := f.calls
	f.calls++
	if n < p.At || n >= p.At+p.Times {
		f.mu.Unlock()
		return keep, false, nil
	}
	f.mu.Unlock()
	if p.Hang != nil {
		<-p.Hang
		return keep, false, nil
	}
	if p.Do != nil {
		p.Do()
		return keep, false, nil
	}
	fail := func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.dead = f.dead || p.Off
		return &fs.PathError{Op: call, Path: name, Err: p.Err}
	}
	if !p.Done {
		return nil, true, fail()
	}
	return func(error) error { return fail() }, false, nil
}

// faultNode is a file, a directory or a symbolic link.
type faultNode struct {
	inode          uint64
	links          uint64
	mode           fs.FileMode
	mtime, changed int64
	born           int64
	data           []byte
	names          map[string]*faultNode // of a directory, by folded names
	shown          map[string]string
	target         string

	disk    faultState   // what is on the disk
	pending []faultWrite // writes since then
	stale   bool         // a flush has lost what is in data and not on the disk
}

// faultState is the state of a node on the disk.
type faultState struct {
	mode           fs.FileMode
	mtime, changed int64
	data           []byte
	names          map[string]*faultNode
	shown          map[string]string
}

// faultWrite is a write or a new size that is not on the disk. Writes are in sectors.
type faultWrite struct {
	at   int64
	data []byte // nil for a size
	size int64
}

func (f *faultFS) newNode(mode fs.FileMode) *faultNode {
	f.inode++
	n := &faultNode{inode: f.inode, links: 1, mode: mode}
	if mode.IsDir() {
		n.names, n.shown = map[string]*faultNode{}, map[string]string{}
	}
	f.touch(n)
	n.born = n.changed
	return n
}

// touch records that a node has changed.
func (f *faultFS) touch(n *faultNode) {
	f.clock += 1000
	n.changed = f.clock
	n.mtime = f.clock
}

// synced puts a node on the disk, except for writes that a failed flush has lost.
func (n *faultNode) synced() {
	data := n.disk.data
	for _, p := range n.pending {
		data = p.apply(data)
	}
	n.disk = faultState{mode: n.mode, mtime: n.mtime, changed: n.changed, data: data}
	n.pending = nil
	if n.names != nil {
		n.disk.names, n.disk.shown = maps.Clone(n.names), maps.Clone(n.shown)
	}
}

// apply does a write on data.
func (p *faultWrite) apply(data []byte) []byte {
	if p.data == nil {
		return resize(data, p.size)
	}
	if end := p.at + int64(len(p.data)); end > int64(len(data)) {
		data = resize(data, end)
	}
	copy(data[p.at:], p.data)
	return data
}

// lost drops what a flush should have put on the disk. It stays in memory.
func (n *faultNode) lost() {
	n.stale = n.stale || len(n.pending) > 0
	n.pending = nil
}

// PowerLoss drops what is not on the disk. Each unflushed write and name is kept if keep says
// so; nil keeps none. It leaves the power on, without a plan.
func (f *faultFS) PowerLoss(keep *rand.Rand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead, f.plan = false, nil
	f.lose(f.root, map[*faultNode]bool{}, func() bool { return keep != nil && keep.IntN(2) == 0 })
	f.countLinks()
}

// Kill ends the process that uses f: what it has done stays.
func (f *faultFS) Kill() { f.SetPlan(nil) }

func (f *faultFS) lose(n *faultNode, seen map[*faultNode]bool, keep func() bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	kept := n.pending[:0]
	for _, p := range n.pending {
		if keep() {
			kept = append(kept, p)
		}
	}
	n.pending = kept
	// The inode may be on the disk before the bytes are.
	if !keep() {
		n.mode, n.mtime, n.changed = n.disk.mode, n.disk.mtime, n.disk.changed
	}
	if n.names != nil {
		for name := range n.names {
			if n.disk.names[name] != n.names[name] && keep() {
				n.disk.names[name], n.disk.shown[name] = n.names[name], n.shown[name]
			}
		}
		for name := range n.disk.names {
			if n.names[name] == nil && keep() {
				delete(n.disk.names, name)
				delete(n.disk.shown, name)
			}
		}
		n.names, n.shown = n.disk.names, n.disk.shown
	}
	n.synced()
	n.data, n.stale = slices.Clone(n.disk.data), false
	for _, child := range n.names {
		f.lose(child, seen, keep)
	}
}

// countLinks counts the names of all nodes.
func (f *faultFS) countLinks() {
	counts := map[*faultNode]uint64{}
	var walk func(n *faultNode)
	walk = func(n *faultNode) {
		counts[n]++
		if counts[n] > 1 {
			return
		}
		for _, child := range n.names {
			walk(child)
		}
	}
	walk(f.root)
	for n, links := range counts {
		n.links = links
	}
}

func resize(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

// fold returns the key of a name in a directory.
func (f *faultFS) fold(name string) string {
	if f.Fold {
		return strings.ToLower(name)
	}
	return name
}

// walk returns the node at a path below dir, without following links at its end.
func (f *faultFS) walk(dir *faultNode, name string) (*faultNode, error) {
	n := dir
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part == "" {
			continue
		}
		if n.mode.Type() == fs.ModeSymlink {
			return nil, syscall.ELOOP // no test needs more
		}
		if !n.mode.IsDir() {
			return nil, syscall.ENOTDIR
		}
		if n.mode&0o100 == 0 {
			return nil, syscall.EACCES
		}
		if part == "." {
			continue
		}
		if n = n.names[f.fold(part)]; n == nil {
			return nil, syscall.ENOENT
		}
	}
	return n, nil
}

// parent returns the directory of a name, and its last part.
func (f *faultFS) parent(dir *faultNode, name string) (*faultNode, string, error) {
	up, last := path.Split(path.Clean(name))
	n, err := f.walk(dir, up)
	if err == nil && !n.mode.IsDir() {
		err = syscall.ENOTDIR
	}
	return n, last, err
}

func (f *faultFS) link(dir *faultNode, name string, n *faultNode) {
	dir.names[f.fold(name)], dir.shown[f.fold(name)] = n, name
	f.touch(dir)
}

func (f *faultFS) unlink(dir *faultNode, name string) {
	n := dir.names[f.fold(name)]
	delete(dir.names, f.fold(name))
	delete(dir.shown, f.fold(name))
	n.links--
	f.clock += 1000
	n.changed = f.clock
	f.touch(dir)
}

// faultInfo describes a node.
type faultInfo struct {
	name string
	n    faultNode
}

func (i faultInfo) Name() string       { return i.name }
func (i faultInfo) Size() int64        { return int64(len(i.n.data)) }
func (i faultInfo) Mode() fs.FileMode  { return i.n.mode }
func (i faultInfo) ModTime() time.Time { return time.Unix(0, i.n.mtime) }
func (i faultInfo) IsDir() bool        { return i.n.mode.IsDir() }
func (i faultInfo) Sys() any {
	return vfs.Stat{Device: 1, Inode: i.n.inode, Links: i.n.links, Changed: i.n.changed}
}

func newFaultInfo(name string, n *faultNode) fs.FileInfo {
	return faultInfo{name: path.Base(name), n: *n}
}
