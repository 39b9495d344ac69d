package stream

// part is a part of the stream at a receiver: a piece, or the bytes in a record. The receiver's lock guards it.
type part struct {
	record uint64 // that announced it
	number uint64 // of the piece
	rest   []byte // the bytes in the record, nil for a piece
	*piece        // empty before it is fetched
	epoch  *epoch // nil unless it is a piece that is fetched

	complete bool
	busy     bool // it is moved to the spool, or written to the consumer
	freed    bool
}

// queue is a queue of numbered parts.
type queue struct {
	first uint64 // the number of parts[0]
	parts []*part
}

func (q *queue) end() uint64 { return q.first + uint64(len(q.parts)) }

// at returns part n, or nil.
func (q *queue) at(n uint64) *part {
	if n < q.first || n >= q.end() {
		return nil
	}
	return q.parts[n-q.first]
}

// pop removes the first part.
func (q *queue) pop() {
	q.parts[0] = nil
	q.first, q.parts = q.first+1, q.parts[1:]
}
