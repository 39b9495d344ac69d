package format

import (
	"bufio"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
)

// Text writes a description for people, line by line. What is in it may come from
// strangers, so all of it is made [Printable].
type Text struct{ w *bufio.Writer }

// NewText begins a text, which is all written after [Text.Flush].
func NewText(out io.Writer) Text { return Text{bufio.NewWriter(out)} }

// Line writes a line, formatted as by [fmt.Sprintf].
func (t Text) Line(text string, args ...any) {
	fmt.Fprintln(t.w, Printable(fmt.Sprintf(text, args...)))
}

// List writes a line for each value, the first with the heading.
func (t Text) List(heading string, values []string) {
	for i, v := range values {
		t.Line("%s%s", Label(heading, i), v)
	}
}

// Content writes how large a content is, and how it is cut.
func (t Text) Content(bytes int64, pieces int, pieceLength int64) {
	t.Line("size      %s (%s bytes)", Size(bytes), humanize.Comma(bytes))
	t.Line("pieces    %s of %s", humanize.Comma(int64(pieces)), humanize.IBytes(uint64(pieceLength)))
}

// Flush ends the text. It fails with the first error of writing.
func (t Text) Flush() error { return t.w.Flush() }
