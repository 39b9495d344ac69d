package limit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rate is a rate in bytes per second. Zero means no limit.
type Rate int64

// minRate is the least limit. Below it a block takes longer than the timeout of peers.
const minRate Rate = 1000

// maxRate bounds rates, so that sums do not overflow.
const maxRate Rate = 1e15

// units are bytes per second, by what follows the number.
//
//nolint:gochecknoglobals // a constant table
var units = map[string]float64{
	"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	"bit": 1. / 8, "kbit": 1e3 / 8, "Kbit": 1e3 / 8, "Mbit": 1e6 / 8, "Gbit": 1e9 / 8, "Tbit": 1e12 / 8,
}

// ParseRate parses a rate such as 50MB, 400Mbit or 1.5GiB, with or without "/s". 0 means no
// limit. It fails for a number without a unit, and for rates that are negative or out of range.
func ParseRate(text string) (Rate, error) {
	s := strings.TrimSuffix(strings.TrimSpace(text), "/s")
	digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
	n, err := strconv.ParseFloat(s[:digits], 64)
	unit := strings.TrimSpace(s[digits:])
	factor, known := units[unit]
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, fmt.Errorf("rate %q is negative: give a rate such as 50MB or 400Mbit, or 0 for no limit", text)
	case err != nil:
		return 0, fmt.Errorf("rate %q has no number: give a rate such as 50MB or 400Mbit, or 0 for no limit", text)
	case n == 0 && (unit == "" || known):
		return 0, nil
	case unit == "":
		return 0, fmt.Errorf("rate %q has no unit: give a rate such as 50MB or 400Mbit, or 0 for no limit", text)
	case !known:
		return 0, fmt.Errorf("rate %q has an unknown unit %q: give bytes as in 50MB, or bits as in 400Mbit", text, unit)
	}
	r := Rate(math.Round(min(n*factor, float64(maxRate)+1)))
	if r < minRate || r > maxRate {
		return 0, fmt.Errorf("rate %q is not between %v and %v; 0 means no limit", text, minRate, maxRate)
	}
	return r, nil
}

// String formats the rate such that [ParseRate] reads it.
func (r Rate) String() string {
	if r == 0 {
		return "none"
	}
	for _, u := range []string{"TB", "GB", "MB", "kB"} {
		if n := float64(r) / units[u]; n >= 1 {
			return strconv.FormatFloat(n, 'f', -1, 64) + " " + u + "/s"
		}
	}
	return strconv.FormatInt(int64(r), 10) + " B/s"
}
