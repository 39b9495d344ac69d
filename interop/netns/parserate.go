package netns

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseRate reads a rate as a person writes it: a plain decimal number and KB, MB or GB, per second, as "12.5MB" or "800KB". The
// units are decimal. The error says what is wrong with the text, or that no shaper could keep such a rate.
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
	// Of what ParseFloat takes, only this is left: no signs, exponents, hexadecimals, infinities.
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
