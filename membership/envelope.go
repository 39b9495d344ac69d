package membership

import (
	"bytes"
	"errors"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/mobgrid/mob/proto"
)

// domain separates signatures of networks from other signatures with the same key.
const domain = "mob-network"

// payload is the payload of an envelope. It implements [record.Record].
type payload struct {
	kind string
	v    any // a pointer to a struct for CBOR
}

// Domain implements [record.Record].
func (p *payload) Domain() string { return domain }

// Codec implements [record.Record].
func (p *payload) Codec() []byte { return []byte(p.kind) }

// MarshalRecord implements [record.Record].
func (p *payload) MarshalRecord() ([]byte, error) { return proto.EncodeCBOR(p.v) }

// UnmarshalRecord implements [record.Record].
func (p *payload) UnmarshalRecord(b []byte) error { return proto.DecodeCBOR(b, p.v) }

func seal(key crypto.PrivKey, kind string, v any) ([]byte, error) {
	e, err := record.Seal(&payload{kind, v}, key)
	if err != nil {
		return nil, err
	}
	return e.Marshal()
}

// open checks the signature of an envelope, decodes its payload, and returns the signer.
func open(b []byte, kind string, v any) (ID, error) {
	e, err := record.UnmarshalEnvelope(b)
	if err != nil {
		return ID{}, err
	}
	if string(e.PayloadType) != kind {
		return ID{}, errors.New("not of this kind")
	}
	id, err := idOf(e.PublicKey)
	if err != nil {
		return ID{}, err
	}
	if again, err := e.Marshal(); err != nil || !bytes.Equal(again, b) {
		return ID{}, errors.New("not in its only encoding")
	}
	_, err = record.ConsumeTypedEnvelope(b, &payload{kind, v})
	return id, err
}
