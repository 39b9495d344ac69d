// Package format writes figures and names for people, and values for programs.
package format

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
)

// Size is n bytes for people, in powers of 1000 as network rates are.
func Size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// Rate is a rate in bytes per second for people.
func Rate(n int64) string { return Size(n) + "/s" }

// Average is the rate of n bytes in d.
func Average(n int64, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64(float64(n) / d.Seconds())
}

// Percent is part of whole, 100 only when nothing lacks.
func Percent(part, whole int64) int {
	if whole <= 0 || part >= whole {
		return 100
	}
	return int(float64(part) / float64(whole) * 100)
}

// Span is a duration for people: two units at most.
func Span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// Count is a number of things.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", humanize.Comma(int64(n)), thing)
}

// Printable is a text without what a terminal would take for a command: names
// come from strangers.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// JSON prints v as indented JSON.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // a link has ampersands
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Bar draws how much of a width is done.
func Bar(part, whole int64, width int) string {
	done := width
	if whole > 0 && part < whole {
		done = int(float64(part) / float64(whole) * float64(width))
	}
	return "[" + strings.Repeat("=", done) + strings.Repeat(" ", width-done) + "]"
}

// Label begins a line of a list that has its heading in the first.
func Label(heading string, i int) string {
	if i > 0 {
		heading = ""
	}
	return fmt.Sprintf("%-10s", heading)
}
