package store

import (
	"io/fs"
	"sync"
	"time"

	"github.com/mobgrid/mob/peer/store/journal"
)

// fileState is the state of a file with bytes. Its pieces have separate states.
//
//	      create        last piece       Publish
//	gone -------> open -----------> full -------> final
//	  |            ^  \               |             |
//	  | found      |   write failed   |             | a piece is missing
//	  v            |       v          v             v
//	idle ----------+------ idle <-------------------+
//
// From each state, a file becomes gone once it is missing.
type fileState uint8

const (
	fileGone  fileState = iota // not there; the journal keeps its pieces until a file is created
	fileIdle                   // there, and opened for reading
	fileOpen                   // prepared for writing
	fileFull                   // complete, and given its mode and time; opened for reading
	fileFinal                  // published: other programs may change it
)

// fileEvent is an event of a file.
type fileEvent uint8

const (
	fileFound     fileEvent = iota // the file exists
	fileMissing                    // it does not
	filePrepared                   // it may be written to
	writeFailed                    // its size may be wrong
	fileCompleted                  // its last piece was verified
	filePublished                  // it has its mode and time
	pieceMissing                   // a piece of it will be written again
)

// next returns the state after an event.
func (s fileState) next(e fileEvent) fileState {
	switch {
	case e == fileMissing:
		return fileGone
	case e == filePrepared:
		return fileOpen
	case e == fileFound && s == fileGone, e == writeFailed && s == fileOpen, e == pieceMissing && s > fileOpen:
		return fileIdle
	case e == fileCompleted && s == fileOpen:
		return fileFull
	case e == filePublished && s != fileGone:
		return fileFinal
	}
	return s
}

// fileRecord is the record of an entry. Only a file with bytes has a state. While the file is written to, it has no time in its
// stamp. In the states full and final, the stamp is the one that the store left.
type fileRecord struct {
	journal.File
	state   fileState
	written bool          // since its last record in the journal
	foreign bool          // another program changed it before the store wrote to it: it gets no stamp until it is hashed
	dirty   bool          // with pieces that were committed since the last flush
	busy    chan struct{} // not nil while a goroutine prepares it; closed after that
}

// fits reports whether a file is in the state of its stamp: the store left it so, or has read its verified pieces since.
func (f *fileRecord) fits(info fs.FileInfo) bool {
	return f.Changed != 0 && !f.foreign && f.Stamp == stampOf(info)
}

// changed reports whether another program has changed a file since its stamp was taken.
func (f *fileRecord) changed(info fs.FileInfo) bool {
	return f.foreign || f.Changed != 0 && f.Stamp != stampOf(info)
}

// left reports whether other programs may change a file.
func (f *fileRecord) left() bool { return f.Changed != 0 || f.state == fileFinal }

// clockTick is the time within which two changes of a file may have one stamp, if the file system has no finer clock.
const clockTick = 10 * time.Millisecond

// awaitTick returns once a file that was changed at a time, in Unix nanoseconds, gets another stamp by the next change.
func (t *tree) awaitTick(changed int64) {
	if age := time.Since(time.Unix(0, changed)); age >= 0 && age < clockTick && !t.root.FineTime(changed) {
		time.Sleep(clockTick - age)
	}
}

// table has the entries of a store, the root last. Nothing waits for a disk while it is locked.
type table struct {
	mu    sync.Mutex
	files []fileRecord
}

// at returns a copy of the record of a file.
func (t *table) at(i int) fileRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.files[i]
}

// update changes the record of a file, and returns a copy.
func (t *table) update(i int, change func(f *fileRecord)) fileRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.files[i])
	return t.files[i]
}

// happened applies an event to a file.
func (t *table) happened(i int, e fileEvent) {
	t.update(i, func(f *fileRecord) { f.state = f.state.next(e) })
}

// all returns the files that some holds for. It may change them.
func (t *table) all(some func(f *fileRecord) bool) (files []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.files {
		if some(&t.files[i]) {
			files = append(files, i)
		}
	}
	return files
}

// lastChange returns the time of the last change in the stamps, in Unix nanoseconds.
func (t *table) lastChange() (last int64) {
	t.all(func(f *fileRecord) bool {
		last = max(last, f.Changed)
		return false
	})
	return last
}
