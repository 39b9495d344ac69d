package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
)

// size is n bytes for people, in powers of 1000 as network rates are.
func size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// rate is a rate in bytes per second for people.
func rate(n int64) string { return size(n) + "/s" }

// average is the rate of n bytes in d.
func average(n int64, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64(float64(n) / d.Seconds())
}

// percent is part of whole, 100 only when nothing lacks.
func percent(part, whole int64) int {
	if whole <= 0 || part >= whole {
		return 100
	}
	return int(float64(part) / float64(whole) * 100)
}

// span is a duration for people: two units at most.
func span(d time.Duration) string {
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

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", humanize.Comma(int64(n)), thing)
}

// printable is a text without what a terminal would take for a command: names
// come from strangers.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// printJSON prints v as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // a link has ampersands
	e.SetIndent("", "  ")
	return e.Encode(v)
}
