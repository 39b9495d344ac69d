package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Kills end a share of the receivers with kill -9, at once or one by one. Whoever
// is killed does not count in what is measured.
type Kills struct {
	// Percent of the receivers, at least one of them. Zero: nobody.
	Percent float64
	// After the start of the fetching the first is killed, and Every so long the
	// next. Zero: all at once.
	After, Every time.Duration
}

// ParseKills reads "10%@5s", a tenth of the nodes five seconds after the start, and
// "10%@5s+2s", one of them every two seconds from then on.
func ParseKills(s string) (Kills, error) {
	var k Kills
	percent, at, ok := strings.Cut(s, "%@")
	after, every, inTurn := strings.Cut(at, "+")
	var errs [3]error
	k.Percent, errs[0] = strconv.ParseFloat(percent, 64)
	k.After, errs[1] = time.ParseDuration(after)
	if inTurn {
		k.Every, errs[2] = time.ParseDuration(every)
	}
	good := ok && errors.Join(errs[:]...) == nil && k.Percent > 0 && k.Percent <= 100 && k.After >= 0 && (k.Every > 0 || !inTurn)
	if !good {
		return Kills{}, fmt.Errorf("%q is not such as 10%%@5s (a tenth of the nodes after 5 s) or 10%%@5s+2s (one every 2 s)", s)
	}
	return k, nil
}

// String is what ParseKills reads.
func (k Kills) String() string {
	text := fmt.Sprintf("%g%%@%v", k.Percent, k.After)
	if k.Every > 0 {
		text += "+" + k.Every.String()
	}
	return text
}

// Victim is a receiver and when it is killed.
type Victim struct {
	Receiver
	At time.Duration
}

// Victims are drawn by the seed, in the order of their deaths.
func (c *Case) Victims() []Victim {
	if c.Kills.Percent == 0 {
		return nil
	}
	all := c.Receivers()
	n := max(1, int(math.Round(float64(len(all))*c.Kills.Percent/100)))
	draw := rand.New(rand.NewPCG(c.Seed, 0x6b696c6c))
	victims := make([]Victim, n)
	for i, at := range draw.Perm(len(all))[:n] {
		victims[i] = Victim{all[at], c.Kills.After + time.Duration(i)*c.Kills.Every}
	}
	return victims
}
