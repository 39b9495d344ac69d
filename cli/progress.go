package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/mobgrid/mob/cli/format"
)

const (
	// drawEvery is the least time between two pictures on a terminal.
	drawEvery = 100 * time.Millisecond
	// lineFirst and lineEvery are when lines are printed where there is none, and
	// lineSoon when that is about something short.
	lineFirst = time.Second
	lineEvery = 5 * time.Second
	lineSoon  = time.Second
)

// progress shows how far something is, on standard error: a picture that is drawn
// over again on a terminal, a line every few seconds elsewhere. Nothing else may
// be printed there while a picture stands; note and clear take it away.
type progress struct {
	out   io.Writer
	term  *cwriter.Writer // nil when out is no terminal
	every time.Duration   // between two lines
	next  time.Time       // when to show again
	drawn bool
}

// newProgress begins. On a terminal that cannot move the cursor it prints lines.
func (env *Env) newProgress() *progress {
	p := &progress{out: env.Err, every: lineEvery, next: time.Now().Add(lineFirst)}
	if w := cwriter.New(env.Err); w.IsTerminal() && env.Getenv("TERM") != "dumb" {
		p.term, p.next = w, time.Time{}
	}
	return p
}

// frame is what to show: a picture of a width, or a line.
type frame interface {
	picture(width int) []string
	line() string
}

// show shows f when it is time to.
func (p *progress) show(f frame) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	if p.term != nil {
		p.next = now.Add(drawEvery)
		p.draw(f)
		return
	}
	p.next = now.Add(p.every)
	fmt.Fprintln(p.out, format.Printable(f.line()))
}

// draw puts a picture in the place of the last.
func (p *progress) draw(f frame) {
	width, height, err := p.term.GetTermSize()
	if err != nil || width < 20 {
		width, height = 80, 24
	}
	// A line in the last column, or one more than the screen has, would scroll
	// away what the next picture is to replace.
	lines := f.picture(width - 1)
	if len(lines) > height-1 {
		lines = lines[:height-1]
	}
	for _, l := range lines {
		fmt.Fprintln(p.term, runewidth.Truncate(format.Printable(l), width-1, "…"))
	}
	p.home()
	p.drawn = true
	_ = p.term.Flush(len(lines)) // a terminal that is gone takes the process with it
}

// home moves the cursor to where the last picture ended, should the terminal have
// echoed a key there.
func (p *progress) home() {
	if p.drawn {
		_, _ = io.WriteString(p.out, "\r")
	}
}

// clear takes the picture away.
func (p *progress) clear() {
	if p.drawn {
		p.home()
		_ = p.term.Flush(0)
		p.drawn = false
	}
}

// keep leaves f standing for good.
func (p *progress) keep(f frame) {
	if p.term == nil {
		return
	}
	p.draw(f)
	p.drawn = false
	p.term.Reset() // forgets to move the cursor up
}

// note prints a line above what is shown from now on.
func (p *progress) note(text string, args ...any) {
	p.clear()
	fmt.Fprintln(p.out, format.Printable(fmt.Sprintf(text, args...)))
}

// indented breaks a text into lines.
func indented(text string, width int) []string {
	lines := strings.Split(runewidth.Wrap(format.Printable(text), width-3), "\n")
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// textFrame is a frame of one text.
type textFrame string

func (f textFrame) picture(int) []string { return []string{string(f)} }
func (f textFrame) line() string         { return string(f) }
