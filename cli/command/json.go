package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// WriteJSONLine writes v as JSON in one line.
func WriteJSONLine(w io.Writer, v any) error { return encodeJSON(w, v, "") }

func encodeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(jsonOutput{w})
	e.SetEscapeHTML(false) // a link has ampersands
	e.SetIndent("", indent)
	return e.Encode(v)
}

// jsonOutput escapes U+007F to U+009F and bidirectional controls in JSON, which package json does not: a terminal may run
// them as control sequences, or show another order of characters, and names come from other nodes. A character must not span two calls of Write.
type jsonOutput struct{ io.Writer }

// Write implements [io.Writer].
func (j jsonOutput) Write(b []byte) (int, error) {
	isControl := func(r rune) bool { return r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r) }
	var out []byte
	rest := b
	for {
		i := bytes.IndexFunc(rest, isControl)
		if i < 0 {
			break
		}
		r, n := utf8.DecodeRune(rest[i:])
		out = fmt.Appendf(append(out, rest[:i]...), `\u%04x`, r)
		rest = rest[i+n:]
	}
	if _, err := j.Writer.Write(append(out, rest...)); err != nil {
		return 0, err
	}
	return len(b), nil
}
