package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8/cwriter"
)

const (
	// drawEvery is the least time between two pictures on a terminal.
	drawEvery = 100 * time.Millisecond
	// lineFirst and lineEvery are when lines are printed without a terminal, and
	// lineSoon is in place of lineEvery for something short.
	lineFirst = time.Second
	lineEvery = 5 * time.Second
	lineSoon  = time.Second
)

// progress shows how far something is on standard error: a picture that is
// redrawn on a terminal, a line every few seconds elsewhere. Nothing else may
// print there between show and clear.
type progress struct {
	out   io.Writer
	term  *cwriter.Writer // nil when out is not a terminal
	every time.Duration   // between two lines
	next  time.Time       // when to show again
	drawn bool
	quiet bool // show standstills only
	standstill
}

// newProgress returns a progress with nothing shown yet. It prints lines on a
// terminal that cannot move the cursor. With quiet it reports only that there is no progress.
func (env *Env) newProgress(quiet bool) *progress {
	p := &progress{out: env.Err, every: lineEvery, next: time.Now().Add(lineFirst), quiet: quiet, standstill: standstill{after: stillAfter}}
	if w := cwriter.New(env.Err); w.IsTerminal() && env.Getenv("TERM") != "dumb" {
		p.term, p.next = w, time.Time{}
	}
	return p
}

// frame is what a progress shows: a picture of width columns, or a line.
type frame interface {
	picture(width int) []string
	line() string
}

// show shows f, unless the last frame is too recent. It must be called about once a second while f does
// not move.
func (p *progress) show(f frame) {
	now := time.Now()
	if m, ok := f.(mover); ok {
		if text := p.look(m, now); text != "" {
			p.note("%s", text)
		}
	}
	if p.quiet || now.Before(p.next) {
		return
	}
	if p.term != nil {
		p.next = now.Add(drawEvery)
		p.draw(f)
		return
	}
	p.next = now.Add(p.every)
	fmt.Fprintln(p.out, printable(f.line()))
}

// draw replaces the last picture.
func (p *progress) draw(f frame) {
	width, height, err := p.term.GetTermSize()
	if err != nil || width < 20 {
		width, height = 80, 24
	}
	// A line in the last column, or a line more than the screen has, would scroll
	// away what the next picture is to replace.
	lines := f.picture(width - 1)
	if len(lines) > height-1 {
		lines = lines[:height-1]
	}
	for _, l := range lines {
		fmt.Fprintln(p.term, runewidth.Truncate(printable(l), width-1, "…"))
	}
	p.home()
	p.drawn = true
	_ = p.term.Flush(len(lines)) // when the terminal is gone, the process is about to end
}

// home moves the cursor back to the first column, in case the terminal has echoed
// a key.
func (p *progress) home() {
	if p.drawn {
		_, _ = io.WriteString(p.out, "\r")
	}
}

// clear removes the picture.
func (p *progress) clear() {
	if p.drawn {
		p.home()
		_ = p.term.Flush(0)
		p.drawn = false
	}
}

// keep draws f for good.
func (p *progress) keep(f frame) {
	if p.term == nil {
		return
	}
	p.draw(f)
	p.drawn = false
	p.term.Reset() // so that nothing is drawn over it
}

// note prints a line above later pictures.
func (p *progress) note(format string, args ...any) {
	p.clear()
	fmt.Fprintln(p.out, printable(fmt.Sprintf(format, args...)))
}

// indent wraps a text into lines of width columns that are indented by two.
func indent(text string, width int) []string {
	lines := strings.Split(runewidth.Wrap(printable(text), width-3), "\n")
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// textFrame is a frame of one line.
type textFrame string

func (f textFrame) picture(int) []string { return []string{string(f)} }
func (f textFrame) line() string         { return string(f) }
