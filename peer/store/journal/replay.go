package journal

// replayed is a ledger of a version.
type replayed interface {
	valid(r record) bool
	apply(r record)
	unverifyFrom(number uint32)
}

// replay applies the records of a journal, after its header, to an empty ledger. It returns the number of
// records up to the last readable one; a torn tail may follow.
func replay(b []byte, l replayed) (records uint32) {
	damaged := false
	for number := uint32(0); len(b) >= recordSize; number++ {
		rec, ok := parseRecord(b[:recordSize])
		b = b[recordSize:]
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
	return records
}
