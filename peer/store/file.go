package store

import (
	"sync"

	"github.com/mobgrid/mob/peer/store/journal"
)

// fileState is the state of a file of the layout. Its pieces have separate states.
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

// fileRecord is the record of a file of the layout. While the file is written to, it has no time in its stamp. In the states full
// and final, the stamp is the one that the store left.
type fileRecord struct {
	journal.File
	state   fileState
	written bool          // since its last record in the journal
	foreign bool          // another program changed it since the store was opened: it gets no stamp
	dirty   bool          // with pieces that were committed since the last flush
	busy    chan struct{} // not nil while a goroutine prepares it; closed after that
}

// table has the files of a store. Nothing waits for a disk while it is locked.
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

// happened applies an event to the files from first to before after.
func (t *table) happened(first, after int, e fileEvent) {
	for i := first; i < after; i++ {
		t.update(i, func(f *fileRecord) { f.state = f.state.next(e) })
	}
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
