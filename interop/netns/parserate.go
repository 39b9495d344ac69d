package netns

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseRate parses a rate: a plain decimal number and KB, MB or GB, per second, such as "12.5MB" or
// "800KB". Units are decimal. It fails for a rate that no shaper can keep.
func ParseRate(s string) (Rate, error) {
	number, unit := s, Rate(0)
	for _, u := range []struct {
		suffix string
		rate   Rate
	}{{"KB", KBps}, {"MB", MBps}, {"GB", 1000 * MBps}} {
		if before, ok := strings.CutSuffix(s, u.suffix); ok {
			number, unit = before, u.rate
		}
	}
	// ParseFloat also accepts signs, exponents, hexadecimal numbers and infinities.
	if unit == 0 || number == "" || strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("rate %q is not a number and KB, MB or GB, as 12.5MB", s)
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("rate %q is not a number and KB, MB or GB, as 12.5MB", s)
	}
	r := Rate(n) * unit
	return r, checkRate(r)
}
