package store

import "testing"

func TestFileStates(t *testing.T) {
	states := []fileState{fileGone, fileIdle, fileOpen, fileFull, fileFinal}
	next := map[fileEvent][]fileState{
		fileFound:     {fileIdle, fileIdle, fileOpen, fileFull, fileFinal},
		fileMissing:   {fileGone, fileGone, fileGone, fileGone, fileGone},
		filePrepared:  {fileOpen, fileOpen, fileOpen, fileOpen, fileOpen},
		writeFailed:   {fileGone, fileIdle, fileIdle, fileFull, fileFinal},
		fileCompleted: {fileGone, fileIdle, fileFull, fileFull, fileFinal},
		filePublished: {fileGone, fileFinal, fileFinal, fileFinal, fileFinal},
		pieceMissing:  {fileGone, fileIdle, fileOpen, fileIdle, fileIdle},
	}
	for event, want := range next {
		for i, s := range states {
			if got := s.next(event); got != want[i] {
				t.Errorf("state %d after event %d: %d, want %d", s, event, got, want[i])
			}
		}
	}
}
