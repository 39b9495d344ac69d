package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
)

// textWriter writes the description of a content, line by line. All text is made
// [printable], since it may come from strangers. Errors are returned by flush.
type textWriter struct{ w *bufio.Writer }

func newTextWriter(out io.Writer) textWriter { return textWriter{bufio.NewWriter(out)} }

func (t textWriter) line(format string, args ...any) {
	fmt.Fprintln(t.w, printable(fmt.Sprintf(format, args...)))
}

// list writes a line per value, the first with the list's name.
func (t textWriter) list(name string, values []string) {
	for i, v := range values {
		t.line("%s%s", heading(name, i), v)
	}
}

// size writes the size of a content and of its pieces.
func (t textWriter) size(bytes int64, pieces int, pieceLength int64) {
	t.line("size      %s (%s bytes)", formatBytes(bytes), humanize.Comma(bytes))
	t.line("pieces    %s of %s", humanize.Comma(int64(pieces)), humanize.IBytes(uint64(pieceLength)))
}

func (t textWriter) flush() error { return t.w.Flush() }
