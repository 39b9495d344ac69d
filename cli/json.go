package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// writeJSON writes v as indented JSON.
func writeJSON(w io.Writer, v any) error { return encodeJSON(w, v, "  ") }

// writeJSONLine writes v as JSON in one line.
func writeJSONLine(w io.Writer, v any) error { return encodeJSON(w, v, "") }

func encodeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(jsonOutput{w})
	e.SetEscapeHTML(false) // a link has ampersands
	e.SetIndent("", indent)
	return e.Encode(v)
}

// jsonOutput writes JSON to a terminal: it escapes U+007F to U+009F, which package json does not and which a terminal
// may take for control sequences, as names and texts come from other nodes. A character must not span two calls of Write.
type jsonOutput struct{ io.Writer }

// Write implements [io.Writer].
func (j jsonOutput) Write(b []byte) (int, error) {
	isControl := func(r rune) bool { return r >= 0x7f && r <= 0x9f }
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

// result returns the writer of the result of a command, which is text or JSON.
func (g *global) result() io.Writer {
	if g.json {
		return jsonOutput{g.Out}
	}
	return g.Out
}
