package proto

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Goodbye ends a control stream and says why. On a manifest, torrent or tracker stream it
// refuses the request.
type Goodbye struct {
	_ struct{} `cbor:",toarray"`
	// Code is for programs, which treat an unknown one as a failure.
	Code Code
	// Text is for people: UTF-8, at most [MaxText] bytes, may be empty.
	Text string
}

// Type implements [Message].
func (*Goodbye) Type() Type { return TypeGoodbye }

func (m *Goodbye) check() error {
	if len(m.Text) > MaxText {
		return fmt.Errorf("text of %d bytes, at most %d", len(m.Text), MaxText)
	}
	if !utf8.ValidString(m.Text) {
		return errors.New("text is not valid UTF-8")
	}
	return nil
}
