package command

import (
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
	out := make([]byte, 0, len(b))
	for _, r := range string(b) {
		if isControl(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	if _, err := j.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
