package proto

import (
	"bytes"
	"errors"

	"github.com/fxamacker/cbor/v2"
)

// The CBOR modes of all messages. No list in a message is longer than [MaxRanges], so a
// frame of tiny elements cannot make a reader allocate much more than the frame.
//
//nolint:gochecknoglobals // immutable modes, built once
var (
	encMode = must(cbor.EncOptions{
		Sort: cbor.SortCoreDeterministic, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		NilContainers: cbor.NilContainerAsEmpty,
	}.EncMode())
	decMode = newDecMode(MaxRanges)
)

// newDecMode returns a mode that rejects lists of more than most elements.
func newDecMode(most int) cbor.DecMode {
	return must(cbor.DecOptions{
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxArrayElements: most, MaxMapPairs: 16, MaxNestedLevels: 4,
	}.DecMode())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// EncodeCBOR returns the deterministic encoding of a struct, as in the body of a message.
func EncodeCBOR(v any) ([]byte, error) { return encMode.Marshal(v) }

// DecodeCBOR decodes a struct. It fails unless b is what [EncodeCBOR] returns. No list may have more than [MaxRanges] elements.
func DecodeCBOR(b []byte, v any) error {
	if err := decMode.Unmarshal(b, v); err != nil {
		return err
	}
	return checkCBOR(b, v)
}

// checkCBOR fails unless b is the deterministic encoding of v. The library accepts long
// integers, and null for a list or a number.
func checkCBOR(b []byte, v any) error {
	if again, err := encMode.Marshal(v); err != nil || !bytes.Equal(again, b) {
		return errors.New("not in its deterministic encoding")
	}
	return nil
}
