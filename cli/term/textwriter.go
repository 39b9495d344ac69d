package term

import (
	"bufio"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
)

// TextWriter writes a text line by line. Flush returns the first error.
type TextWriter struct{ *bufio.Writer }

// NewTextWriter returns a writer to out.
func NewTextWriter(out io.Writer) TextWriter { return TextWriter{bufio.NewWriter(out)} }

// Line writes a line.
func (t TextWriter) Line(format string, args ...any) {
	fmt.Fprintln(t, Printable(fmt.Sprintf(format, args...)))
}

// List writes a line per value, the first with the list's name.
func List[T any](t TextWriter, name string, values []T) {
	for i, v := range values {
		t.Line("%s%v", Heading(name, i), v)
	}
}

// Size writes the total size and the size of a piece.
func (t TextWriter) Size(bytes int64, pieces int, pieceLength int64) {
	t.Line("size      %s (%s bytes)", Bytes(bytes), humanize.Comma(bytes))
	t.Line("pieces    %s of %s", humanize.Comma(int64(pieces)), humanize.IBytes(uint64(pieceLength)))
}
