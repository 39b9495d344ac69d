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

// Kills end some of the receivers with SIGKILL, together or one by one. Results do not
// count them.
type Kills struct {
	// Percent of the receivers, and at least one of them, are killed. Zero: none.
	Percent float64
	// After is the time from the start of the fetching to the first kill, Every the time
	// between two kills. Every is zero: all together.
	After, Every time.Duration
}

// ParseKills parses "10%@5s", a tenth of the nodes five seconds after the start, and
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
	ok = ok && errors.Join(errs[:]...) == nil && k.Percent > 0 && k.Percent <= 100
	if !ok || k.After < 0 || inTurn && k.Every <= 0 {
		return Kills{}, fmt.Errorf("invalid kills %q: must be such as 10%%@5s (a tenth of the nodes after 5 s) or 10%%@5s+2s (one every 2 s)", s)
	}
	return k, nil
}

// String is the text that ParseKills parses.
func (k Kills) String() string {
	text := fmt.Sprintf("%g%%@%v", k.Percent, k.After)
	if k.Every > 0 {
		text += "+" + k.Every.String()
	}
	return text
}

// Victim is a receiver that is killed, at a time from the start of the fetching.
type Victim struct {
	Receiver
	At time.Duration
}

// Victims draws the victims from the seed, in the order of their times.
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
