package stream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	libp2precord "github.com/libp2p/go-libp2p/core/record"

	"github.com/mobgrid/mob/proto"
)

// The limits of a record.
const (
	// maxRecord bounds an encoded record in bytes: three times what the rest of the limits take.
	maxRecord = 32 << 10
	// maxPieces bounds the pieces that a record announces, and maxRest the bytes of the stream in it.
	maxPieces = 256
	maxRest   = 2 << 10
	// maxText bounds the text of an error in a record, in bytes.
	maxText = 1 << 10
)

// record says how a stream goes on: with pieces, or with the bytes in the record itself. It is the payload of a
// libp2p envelope, which has the signature.
type record struct {
	_ struct{} `cbor:",toarray"`
	// Number counts the records from 0.
	Number uint64
	// Before is the SHA-256 of the payload of the record before, empty in the first.
	Before []byte
	// Sums are the SHA-256 of the pieces, joined. Each has the full length but for the last, which has
	// Last bytes. Pieces are numbered from the begin of the stream on.
	Sums []byte
	Last uint32
	// Rest is some bytes that are not worth a piece.
	Rest []byte
	// End says that the stream ends here, and Error why it was cut off, empty if it was not.
	End   bool
	Error string
}

// Domain implements [libp2precord.Record]. It keeps signatures of streams apart from others with the
// same key.
func (r *record) Domain() string { return "mob-stream" }

// Codec implements [libp2precord.Record].
func (r *record) Codec() []byte { return []byte("/mob/stream/1") }

// MarshalRecord implements [libp2precord.Record].
func (r *record) MarshalRecord() ([]byte, error) { return proto.EncodeCBOR(r) }

// UnmarshalRecord implements [libp2precord.Record].
func (r *record) UnmarshalRecord(b []byte) error { return proto.DecodeCBOR(b, r) }

// pieces returns how many pieces the record announces.
func (r *record) pieces() int { return len(r.Sums) / sha256.Size }

// piece returns the hash and the length of a piece.
func (r *record) piece(i int) (sum [sha256.Size]byte, size int) {
	size = pieceSize
	if i == r.pieces()-1 {
		size = int(r.Last)
	}
	return [sha256.Size]byte(r.Sums[i*sha256.Size:]), size
}

// check reports why a record cannot be.
func (r *record) check() error {
	n := r.pieces()
	switch {
	case len(r.Sums) != n*sha256.Size, n > maxPieces, len(r.Rest) > maxRest,
		n > 0 && (r.Last == 0 || r.Last > pieceSize || len(r.Rest) > 0),
		r.End != (n == 0 && len(r.Rest) == 0):
		return fmt.Errorf("record %d makes no sense", r.Number)
	}
	return nil
}

// chain is how far the records of a stream are, at either side.
type chain struct {
	next   uint64
	before []byte // see [record.Before]
	ended  bool
}

// add takes in a record, which was encoded as payload.
func (c *chain) add(r *record, payload []byte) {
	sum := sha256.Sum256(payload)
	c.next, c.before, c.ended = c.next+1, sum[:], r.End
}

// end makes the last record of a stream, which was cut off if failure is not nil.
func end(failure error) *record {
	r := &record{End: true}
	if failure != nil {
		r.Error = strings.ToValidUTF8(failure.Error(), "?")
		r.Error = strings.ToValidUTF8(r.Error[:min(len(r.Error), maxText)], "")
	}
	return r
}

// seal makes r the next record, and signs it.
func (c *chain) seal(key crypto.PrivKey, r *record) ([]byte, error) {
	r.Number, r.Before = c.next, c.before
	e, err := libp2precord.Seal(r, key)
	if err != nil {
		return nil, err
	}
	c.add(r, e.RawPayload)
	return e.Marshal()
}

// open checks that b is the next record, and signed with key.
func (c *chain) open(key crypto.PubKey, b []byte) (*record, error) {
	if len(b) > maxRecord {
		return nil, fmt.Errorf("a record of %d bytes, at most %d", len(b), maxRecord)
	}
	r := new(record)
	e, err := libp2precord.ConsumeTypedEnvelope(b, r)
	if err != nil {
		return nil, fmt.Errorf("a false record: %w", err)
	}
	switch {
	case !e.PublicKey.Equals(key):
		return nil, errors.New("a false record: it is signed with another key")
	case r.Number < c.next:
		return nil, fmt.Errorf("record %d came again", r.Number)
	case c.ended:
		return nil, errors.New("a record came after the end")
	case c.next == 0 && r.Number > 0:
		return nil, fmt.Errorf("too late: the stream is at record %d, and what was before is gone", r.Number)
	case r.Number > c.next:
		return nil, fmt.Errorf("record %d came in place of %d", r.Number, c.next)
	case !bytes.Equal(r.Before, c.before):
		return nil, fmt.Errorf("record %d is of another stream", r.Number)
	}
	c.add(r, e.RawPayload)
	return r, r.check()
}
