package limit

import (
	"fmt"
	"strings"
)

// A Change is a change of limits. Nil rates stay unchanged.
type Change struct {
	WANDown        *Rate `json:"wan_down,omitempty"`
	WANUp          *Rate `json:"wan_up,omitempty"`
	LANUp          *Rate `json:"lan_up,omitempty"`
	ClusterWANDown *Rate `json:"cluster_wan_down,omitempty"`
}

// Names are the names of the limits, as in flags and configurations.
//
//nolint:gochecknoglobals // a constant table
var Names = [...]string{"wan-down", "wan-up", "lan-up", "cluster-wan-down"}

// Check fails for a rate that [ParseRate] would not return.
func (c *Change) Check() error {
	for i, r := range c.rates() {
		if *r != nil && **r != 0 && (**r < minRate || **r > maxRate) {
			return fmt.Errorf("%s of %d bytes per second is not between %v and %v; 0 means no limit",
				Names[i], **r, minRate, maxRate)
		}
	}
	return nil
}

// Set sets one of the rates by its name. It fails for an unknown name, or no rate.
func (c *Change) Set(name, text string) error {
	for i, r := range c.rates() {
		if Names[i] != name {
			continue
		}
		rate, err := ParseRate(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*r = &rate
		return nil
	}
	return fmt.Errorf("unknown limit %q: must be one of %s", name, strings.Join(Names[:], ", "))
}

// IsZero reports whether nothing changes.
func (c Change) IsZero() bool { return c == Change{} }

// Then returns c followed by d.
func (c Change) Then(d Change) Change {
	into := c.rates()
	for i, r := range d.rates() {
		if *r != nil {
			*into[i] = *r
		}
	}
	return c
}

// Apply returns the changed limits.
func (c Change) Apply(l Limits) Limits {
	into := l.rates()
	for i, r := range c.rates() {
		if *r != nil {
			*into[i] = **r
		}
	}
	return l
}

// rates lists the rates in the order of Names.
func (c *Change) rates() [len(Names)]**Rate {
	return [...]**Rate{&c.WANDown, &c.WANUp, &c.LANUp, &c.ClusterWANDown}
}

// rates lists the rates in the order of Names.
func (l *Limits) rates() [len(Names)]*Rate {
	return [...]*Rate{&l.WANDown, &l.WANUp, &l.LANUp, &l.ClusterWANDown}
}
