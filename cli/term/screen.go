package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8/cwriter"
)

const (
	// DrawInterval is the shortest time between two pictures.
	DrawInterval = 100 * time.Millisecond

	firstLine    = time.Second
	lineInterval = 5 * time.Second
)

// Frame is one state of the work.
type Frame interface {
	Picture(width int) []string // width is the number of columns
	Line() string
}

// Screen shows the progress of work: a picture that is redrawn on a terminal, a line every few
// seconds elsewhere. Nothing else may write to its output between Show and Clear.
type Screen struct {
	Interval time.Duration // between two lines
	Quiet    bool          // report stalls only
	stallDetector

	out   io.Writer
	term  *cwriter.Writer // nil when out is not a terminal
	next  time.Time       // when to show again
	drawn bool
}

// New returns an empty screen. It prints lines on a terminal that cannot move the cursor.
func New(out io.Writer, getenv func(string) string) *Screen {
	s := &Screen{out: out, Interval: lineInterval, next: time.Now().Add(firstLine), stallDetector: stallDetector{StallAfter: stallAfter}}
	if w := cwriter.New(out); w.IsTerminal() && getenv("TERM") != "dumb" {
		s.term, s.next = w, time.Time{}
	}
	return s
}

// Show shows f, unless the last frame was shown too recently. It must be called about once a second,
// also while there is no progress.
func (s *Screen) Show(f Frame) {
	now := time.Now()
	if p, ok := f.(Progress); ok {
		if text := s.look(p, now); text != "" {
			s.Note("%s", text)
		}
	}
	if s.Quiet || now.Before(s.next) {
		return
	}
	s.next = now.Add(DrawInterval)
	if !s.Draw(f) {
		s.next = now.Add(s.Interval)
		fmt.Fprintln(s.out, Printable(f.Line()))
	}
}

// Draw replaces the picture immediately. It reports whether the output is a terminal.
func (s *Screen) Draw(f Frame) bool {
	if s.term == nil {
		return false
	}
	width, height, err := s.term.GetTermSize()
	if err != nil || width < 20 || height < 2 {
		width, height = 80, 24
	}
	// A line in the last column, or more lines than the screen has, would scroll
	// away what the next picture is to replace.
	lines := f.Picture(width - 1)
	if more := len(lines) - (height - 2); more > 1 {
		lines = append(lines[:height-2], fmt.Sprintf("… %d more lines", more))
	}
	for _, l := range lines {
		fmt.Fprintln(s.term, runewidth.Truncate(Printable(l), width-1, "…"))
	}
	s.home()
	s.drawn = true
	_ = s.term.Flush(len(lines)) // without a terminal, the process is about to end
	return true
}

// home moves the cursor back to the first column, in case the terminal has echoed
// a key.
func (s *Screen) home() {
	if s.drawn {
		_, _ = io.WriteString(s.out, "\r")
	}
}

// Clear removes the picture.
func (s *Screen) Clear() {
	if s.drawn {
		s.home()
		_ = s.term.Flush(0)
		s.drawn = false
	}
}

// Keep draws f, and later pictures below it.
func (s *Screen) Keep(f Frame) {
	if s.Draw(f) {
		s.drawn = false
		s.term.Reset() // so that nothing is drawn over it
	}
}

// Note prints a line above later pictures.
func (s *Screen) Note(format string, args ...any) {
	s.Clear()
	fmt.Fprintln(s.out, Printable(fmt.Sprintf(format, args...)))
}

// Indent wraps a text into lines of width columns that are indented by two.
func Indent(text string, width int) []string {
	lines := strings.Split(runewidth.Wrap(Printable(text), width-3), "\n")
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// Text is a frame of one line.
type Text string

// Picture implements [Frame].
func (f Text) Picture(int) []string { return []string{string(f)} }

// Line implements [Frame].
func (f Text) Line() string { return string(f) }

// IsTerminal reports whether r is a terminal.
func IsTerminal(r io.Reader) (is bool) {
	if f, ok := r.(*os.File); ok {
		if c, err := f.SyscallConn(); err == nil {
			_ = c.Control(func(fd uintptr) { is = cwriter.IsTerminal(int(fd)) })
		}
	}
	return is
}
