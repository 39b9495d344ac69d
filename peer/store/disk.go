package store

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/proto"
)

// Disk is a [Store] in files and directories. [Create], [Adopt], [Open] and [Seed]
// return one. A state directory must not be used by two of them at a time.
type Disk struct {
	// Constant.
	m         *proto.Manifest
	tree      *tree
	syncEvery int64           // bytes committed between two flushes
	zeros     func() pieceSum // of a piece of zeros that is not the last

	// Read without a lock, changed with it, but for the first step of Forget, and of a
	// write to a doubtful piece. A piece is in one of them at most, or missing.
	verified bitset
	doubtful bitset
	stage    atomic.Int32 // changed with finishing and mu

	flush     sync.WaitGroup // the running flush
	finishing sync.RWMutex   // held during Publish and Finish, and by readers that settle files

	mu       sync.Mutex // guards what follows
	journal  *journal.Journal
	absent   bitset // files that were missing: the journal still has their pieces
	unsynced int64  // bytes committed since the start of the last flush
	syncing  bool
	failed   error // why a flush failed; it stays
	// published has how Publish or settle left files. Others may change them from then on.
	published map[int]journal.Stamp
	closed    bool
}

// Stages of a store. Forget goes back to filling.
const (
	filling  = int32(iota) // pieces are missing, or Publish has not returned
	shown                  // Publish has returned: other programs may change the files
	finished               // Finish has returned, or the content is seeded
)

// ReadAt implements [io.ReaderAt]. It does not allocate if all files it needs are open.
func (d *Disk) ReadAt(p []byte, offset int64) (int, error) {
	l := &d.tree.layout
	if offset < 0 {
		return 0, errNegativeOffset
	}
	if offset >= l.length {
		return 0, eofUnless(len(p) == 0)
	}
	n := 0
	for file := l.find(offset); n < len(p) && file < l.files(); file++ {
		part := p[n:min(int64(len(p)), int64(n)+l.end(file)-offset)]
		done, err := d.tree.readAt(file, part, offset-l.starts[file])
		n += done
		offset += int64(done)
		if err != nil && done < len(part) {
			return n, err
		}
	}
	return n, eofUnless(n == len(p))
}

// WriteAt implements [io.WriterAt]. It does not allocate if all files it needs are open.
func (d *Disk) WriteAt(p []byte, offset int64) (int, error) {
	if d.stage.Load() != filling {
		return 0, ErrReadOnly
	}
	if err := checkWrite(d.m, d.verified, d.doubtful, len(p), offset); err != nil || len(p) == 0 {
		return 0, err
	}
	l := &d.tree.layout
	n := 0
	for file := l.find(offset); n < len(p); file++ {
		part := p[n:min(int64(len(p)), int64(n)+l.end(file)-offset)]
		done, err := d.tree.writeAt(file, part, offset-l.starts[file])
		n += done
		offset += int64(done)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Doubtful reports for each piece whether it is doubtful: likely there, but to be
// hashed again, and then committed or forgotten, see [Audit] and [Record]. A piece that is
// written to is not doubtful any more.
func (d *Disk) Doubtful() []bool {
	doubtful := make([]bool, d.m.Pieces())
	for i := range doubtful {
		doubtful[i] = d.doubtful.has(i)
	}
	return doubtful
}

// Close implements [io.Closer]. It waits for a running flush but starts none: pieces
// that are not flushed are doubtful after a crash of the machine, and only then. It
// returns why a flush failed, if one did.
func (d *Disk) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.mu.Unlock()
	d.flush.Wait()
	d.stage.Store(finished)
	d.tree.closeFiles()
	d.stampWritten()
	err := d.tree.root.Close()
	// With the lock, since a call that began before may still write to the journal.
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.journal.Close(); err == nil {
		err = e
	}
	if d.failed != nil {
		err = d.failed
	}
	return err
}

// check returns why the record of a piece cannot be changed. The caller holds the lock.
func (d *Disk) check(piece int) error {
	if d.closed {
		return os.ErrClosed
	}
	return checkPiece(d.m, piece)
}

// eofUnless returns [io.EOF] unless all was read.
func eofUnless(all bool) error {
	if all {
		return nil
	}
	return io.EOF
}
