package feed

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/mobgrid/mob/proto"
)

// Limits of a head, in bytes.
const (
	maxHead     = 32 << 10
	maxLink     = 2 << 10
	maxManifest = 16 << 10
	maxInline   = 8 << 10
	maxNote     = 1 << 10
)

// Head announces a version of a feed. It is signed, so any member of the group may forward it.
type Head struct {
	// Seq is the number of the version, from 1.
	Seq  uint64
	Time time.Time
	// Link is the link of the version.
	Link *proto.Link
	// Manifest is the encoded manifest, nil if it has more than 16 KiB.
	Manifest []byte
	// Inline is all of the content, nil if it has more than 8 KiB. A follower sets it to pushed content, too, which is not signed.
	Inline []byte
	// Base is the version that Delta is based on, 0 for none. Delta is the link of the delta.
	Base  uint64
	Delta *proto.Link
	// Note is a text of the publisher.
	Note string

	node    libpeer.ID // of the publisher, for reports
	push    bool       // the content is cast after the head
	relayed bool       // it is from another member than the publisher
	signed  []byte     // the envelope
	body    []byte     // what is signed
}

// wireHead is the encoding of a head. It implements [record.Record].
type wireHead struct {
	_        struct{} `cbor:",toarray"`
	Seq      uint64
	Time     int64 // Unix nanoseconds
	Link     string
	Manifest []byte
	Inline   []byte
	Push     bool
	Node     []byte
	Base     uint64
	Delta    string
	Note     string
}

// Domain implements [record.Record].
func (*wireHead) Domain() string { return "mob-feed" }

// Codec implements [record.Record].
func (*wireHead) Codec() []byte { return []byte("/mob/feed/1") }

// MarshalRecord implements [record.Record].
func (w *wireHead) MarshalRecord() ([]byte, error) { return proto.EncodeCBOR(w) }

// UnmarshalRecord implements [record.Record].
func (w *wireHead) UnmarshalRecord(b []byte) error { return proto.DecodeCBOR(b, w) }

// seal signs a head.
func (h *Head) seal(key crypto.PrivKey) error {
	w := &wireHead{
		Seq: h.Seq, Time: h.Time.UnixNano(), Link: h.Link.String(), Manifest: h.Manifest, Inline: h.Inline,
		Push: h.push, Node: []byte(h.node), Base: h.Base, Note: h.Note,
	}
	if h.Delta != nil {
		w.Delta = h.Delta.String()
	}
	if err := w.check(); err != nil {
		return err
	}
	e, err := record.Seal(w, key)
	if err != nil {
		return err
	}
	h.body = e.RawPayload
	if h.signed, err = e.Marshal(); err == nil && len(h.signed) > maxHead {
		err = fmt.Errorf("head of %d bytes, at most %d", len(h.signed), maxHead)
	}
	return err
}

// openHead checks the signature of a head, and decodes it.
func openHead(b []byte, key crypto.PubKey) (*Head, error) {
	if len(b) > maxHead {
		return nil, fmt.Errorf("head of %d bytes, at most %d", len(b), maxHead)
	}
	w := new(wireHead)
	e, err := record.ConsumeTypedEnvelope(b, w)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	if !e.PublicKey.Equals(key) {
		return nil, errors.New("head is signed with another key")
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	h := &Head{
		Seq: w.Seq, Time: time.Unix(0, w.Time), Manifest: w.Manifest, Inline: w.Inline,
		Base: w.Base, Note: w.Note, node: libpeer.ID(w.Node), push: w.Push, signed: b, body: e.RawPayload,
	}
	if h.Link, err = proto.ParseLink(w.Link); err != nil {
		return nil, err
	}
	if w.Delta != "" {
		h.Delta, err = proto.ParseLink(w.Delta)
	}
	return h, err
}

func (w *wireHead) check() error {
	switch {
	case w.Seq == 0:
		return errors.New("head without a version")
	case w.Seq > math.MaxInt64:
		return errors.New("head of a version after 2^63-1")
	case w.Base >= w.Seq || (w.Base > 0) != (w.Delta != ""):
		return fmt.Errorf("head of version %d with a delta of version %d", w.Seq, w.Base)
	case len(w.Link) > maxLink || len(w.Delta) > maxLink:
		return fmt.Errorf("head with a link of more than %d bytes: use fewer trackers", maxLink)
	case len(w.Manifest) > maxManifest || len(w.Inline) > maxInline:
		return errors.New("head with a manifest or content that is too long")
	case len(w.Node) > proto.MaxPeerID:
		return errors.New("head with an id of the publisher that is too long")
	case len(w.Note) > maxNote || !utf8.ValidString(w.Note):
		return fmt.Errorf("the note must be UTF-8 of at most %d bytes", maxNote)
	}
	return nil
}
