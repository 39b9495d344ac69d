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
	// maxRecord bounds an encoded record in bytes: three times the sum of the remaining limits.
	maxRecord = 32 << 10
	// maxPieces bounds the pieces that a record announces, and maxRest the bytes of the stream in it.
	maxPieces = 256
	maxRest   = 2 << 10
	// maxText bounds the text of an error in a record, in bytes.
	maxText = 1 << 10
)

// record announces the next pieces of a stream, or contains its next bytes. It is the payload of a signed libp2p envelope.
type record struct {
	_ struct{} `cbor:",toarray"`
	// Number counts the records from 0.
	Number uint64
	// Before is the SHA-256 of the payload of the record before, empty in the first.
	Before []byte
	// Sums are the joined SHA-256 of the pieces. The last piece has Last bytes, each other piece the full length.
	Sums []byte
	Last uint32
	// Rest contains too few bytes for a piece.
	Rest []byte
	// End marks the last record. Error is the reason if the stream was cut off.
	End   bool
	Error string
}

// Domain implements [libp2precord.Record].
func (r *record) Domain() string { return "mob-stream" }

// Codec implements [libp2precord.Record].
func (r *record) Codec() []byte { return []byte("/mob/stream/1") }

// MarshalRecord implements [libp2precord.Record].
func (r *record) MarshalRecord() ([]byte, error) { return proto.EncodeCBOR(r) }

// UnmarshalRecord implements [libp2precord.Record].
func (r *record) UnmarshalRecord(b []byte) error { return proto.DecodeCBOR(b, r) }

// pieces returns the number of pieces that the record announces.
func (r *record) pieces() int { return len(r.Sums) / sha256.Size }

// piece returns the hash and the length of a piece.
func (r *record) piece(i int) (sum [sha256.Size]byte, size int) {
	size = pieceSize
	if i == r.pieces()-1 {
		size = int(r.Last)
	}
	return [sha256.Size]byte(r.Sums[i*sha256.Size:]), size
}

// check returns the reason why a record is invalid.
func (r *record) check() error {
	n := r.pieces()
	switch {
	case len(r.Sums) != n*sha256.Size, n > maxPieces, len(r.Rest) > maxRest,
		n > 0 && (r.Last == 0 || r.Last > pieceSize || len(r.Rest) > 0),
		r.End != (n == 0 && len(r.Rest) == 0):
		return fmt.Errorf("record %d is invalid", r.Number)
	}
	return nil
}

// chain is the state of the records of a stream, at either side.
type chain struct {
	next   uint64
	before []byte // see [record.Before]
	ended  bool
}

// add appends a record with an encoded payload.
func (c *chain) add(r *record, payload []byte) {
	sum := sha256.Sum256(payload)
	c.next, c.before, c.ended = c.next+1, sum[:], r.End
}

// end returns the last record of a stream. A failure cuts it off.
func end(failure error) *record {
	r := &record{End: true}
	if failure != nil {
		r.Error = strings.ToValidUTF8(failure.Error(), "?")
		r.Error = strings.ToValidUTF8(r.Error[:min(len(r.Error), maxText)], "")
	}
	return r
}

// seal signs r as the next record.
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
		return nil, fmt.Errorf("record of %d bytes: more than %d", len(b), maxRecord)
	}
	r := new(record)
	e, err := libp2precord.ConsumeTypedEnvelope(b, r)
	if err != nil {
		return nil, fmt.Errorf("forged record: %w", err)
	}
	switch {
	case !e.PublicKey.Equals(key):
		return nil, errors.New("forged record: signed with another key")
	case r.Number < c.next:
		return nil, fmt.Errorf("duplicate record %d", r.Number)
	case c.ended:
		return nil, errors.New("record after the end")
	case c.next == 0 && r.Number > 0:
		return nil, fmt.Errorf("too late: the stream is at record %d, and the records before it are released", r.Number)
	case r.Number > c.next:
		return nil, fmt.Errorf("record %d instead of %d", r.Number, c.next)
	case !bytes.Equal(r.Before, c.before):
		return nil, fmt.Errorf("record %d is of another stream", r.Number)
	}
	c.add(r, e.RawPayload)
	return r, r.check()
}
