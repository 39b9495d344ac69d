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
	// maxRecord bounds an encoded record in bytes. The hashes of the largest segment take half of it.
	maxRecord = 32 << 10
	// maxText bounds the text of an error in a record, in bytes.
	maxText = 1 << 10
)

// record describes a segment, or the end of the stream. It is the payload of a libp2p envelope, which
// has the signature.
type record struct {
	_ struct{} `cbor:",toarray"`
	// Number counts the records from 0.
	Number uint64
	// Before is the SHA-256 of the payload of the record before, empty in the first.
	Before []byte
	// Manifest is the encoded manifest of the segment, empty at the end.
	Manifest []byte
	// Error says at the end why the stream was cut off, empty if it was not.
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

// isEnd reports whether the stream has no segment of that number.
func (r *record) isEnd() bool { return len(r.Manifest) == 0 }

// chain is how far the records of a stream are, at either side.
type chain struct {
	next   uint64
	before []byte // see [record.Before]
	ended  bool
}

// add takes in a record, which was encoded as payload.
func (c *chain) add(r *record, payload []byte) {
	sum := sha256.Sum256(payload)
	c.next, c.before, c.ended = c.next+1, sum[:], r.isEnd()
}

// seal makes and signs the next record.
func (c *chain) seal(key crypto.PrivKey, manifest []byte, failure error) ([]byte, error) {
	r := &record{Number: c.next, Before: c.before, Manifest: manifest}
	if failure != nil {
		r.Error = strings.ToValidUTF8(failure.Error(), "?")
		r.Error = strings.ToValidUTF8(r.Error[:min(len(r.Error), maxText)], "")
	}
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
		return nil, fmt.Errorf("too late: the stream is at segment %d, and those before are gone", r.Number)
	case r.Number > c.next:
		return nil, fmt.Errorf("record %d came in place of %d", r.Number, c.next)
	case !bytes.Equal(r.Before, c.before):
		return nil, fmt.Errorf("record %d is of another stream", r.Number)
	}
	c.add(r, e.RawPayload)
	return r, nil
}

// maxSegment bounds a segment, in bytes.
const maxSegment = 32 << 20

// newManifest describes a segment by the hashes of its blocks. name tells streams apart: two contents of
// one node are never the same.
func newManifest(name string, number uint64, size int64, hashes []byte) *proto.Manifest {
	return &proto.Manifest{
		Name:        fmt.Sprintf("%s-%d", name, number),
		PieceLength: blockSize,
		Entries:     []proto.Entry{{Kind: proto.File, Size: size, Mode: 0o600, MTime: proto.NoMTime}},
		Hashes:      hashes,
	}
}

// checkManifest decodes the manifest of a segment.
func checkManifest(b []byte) (*proto.Manifest, error) {
	m, err := proto.DecodeManifest(b)
	if err != nil {
		return nil, err
	}
	if len(m.Entries) != 1 || m.Entries[0].Kind != proto.File || m.PieceLength != blockSize ||
		m.Length() == 0 || m.Length() > maxSegment {
		return nil, errors.New("not the manifest of a segment")
	}
	return m, nil
}

// streamName returns the name of a stream, and the key under which its nodes announce themselves.
func streamName(key crypto.PubKey) (name string, swarm []byte, err error) {
	raw, err := key.Raw()
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(append([]byte("mob-stream:"), raw...))
	return fmt.Sprintf("stream-%x", sum[:6]), proto.ManifestCID(sum[:]).Bytes(), nil
}
