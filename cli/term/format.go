package term

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
)

// Bytes formats n bytes in powers of 1000, as network rates are.
func Bytes(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// Rate formats a rate in bytes per second.
func Rate(n int64) string { return Bytes(n) + "/s" }

// Duration formats a duration in two units at most.
func Duration(d time.Duration) string {
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

// Average returns the rate of n bytes in d, per second.
func Average(n int64, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64(float64(n) / d.Seconds())
}

// Left formats the time that n more bytes take at a rate per second. It is empty if either is 0, and for more than a year.
func Left(n, rate int64) string {
	if n <= 0 || rate <= 0 || n/rate > 365*24*60*60 {
		return ""
	}
	return Duration(time.Duration(float64(n)/float64(rate)*float64(time.Second))) + " left"
}

// Percent returns part of whole in percent, 100 only if part is all of it.
func Percent(part, whole int64) int {
	if whole <= 0 || part >= whole {
		return 100
	}
	return int(float64(part) / float64(whole) * 100)
}

// Plural formats a number of things.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "directory"); ok {
		return fmt.Sprintf("%s %sdirectories", humanize.Comma(int64(n)), stem)
	}
	return fmt.Sprintf("%s %ss", humanize.Comma(int64(n)), thing)
}

// Printable replaces control characters and other characters that do not print.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// Bar draws a progress bar.
func Bar(part, whole int64, width int) string {
	done := width
	if whole > 0 && part < whole {
		done = int(float64(part) / float64(whole) * float64(width))
	}
	return "[" + strings.Repeat("=", done) + strings.Repeat(" ", width-done) + "]"
}

// BarBeside draws a progress bar of up to 50 columns in front of a text, for a line of
// width columns that is indented by two.
func BarBeside(text string, part, whole int64, width int) string {
	return Bar(part, whole, max(10, min(width-len(text)-6, 50))) + text
}

// Heading returns the first column of line i of a list: the name on line 0, blank below.
func Heading(name string, i int) string {
	if i > 0 {
		name = ""
	}
	return fmt.Sprintf("%-10s", name)
}

// Date formats a time to the minute.
func Date(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
