package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// replayed is a ledger of a version.
type replayed interface {
	valid(r record) bool
	apply(r record)
	unverifyFrom(number uint32)
}

// replay reads the records of a journal, after its header, into an empty ledger. It returns the number of
// records up to the last readable one; a torn tail may follow. Only failed reads are errors.
func replay(r io.Reader, l replayed) (uint32, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	b := make([]byte, recordSize)
	var records uint32
	damaged := false
	for number := uint32(0); ; number++ {
		if _, err := io.ReadFull(in, b); err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return records, nil
		} else if err != nil {
			return 0, fmt.Errorf("read journal: %w", err)
		}
		rec, ok := parseRecord(b)
		if !ok || rec.number != number || !l.valid(rec) {
			damaged = true
			continue
		}
		if damaged {
			// The unreadable record may have withdrawn any earlier one. It stays in
			// the file, as the next replay comes to the same.
			l.unverifyFrom(0)
			damaged = false
		}
		l.apply(rec)
		records = number + 1
	}
}
