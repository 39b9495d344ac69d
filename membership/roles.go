package membership

import (
	"fmt"
	"slices"
	"strings"
)

// Roles is a set of rights of a member.
type Roles uint64

// The roles.
const (
	// Seed: seed new content.
	Seed Roles = 1 << iota
	// Get: fetch content, and serve it.
	Get
	// Track: run a tracker.
	Track

	allRoles = Seed | Get | Track
)

// DefaultRoles are the roles of a node.
const DefaultRoles = Seed | Get

// roleNames returns the names in the order of the bits.
func roleNames() []string { return []string{"seed", "get", "track"} }

// Has reports whether r contains any of the given roles.
func (r Roles) Has(one Roles) bool { return r&one != 0 }

// Names returns the names of the roles in r.
func (r Roles) Names() (names []string) {
	for i, name := range roleNames() {
		if r.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// String returns the names, as [ParseRoles] takes them.
func (r Roles) String() string { return strings.Join(r.Names(), ",") }

// ParseRoles parses a list of roles with commas.
func ParseRoles(text string) (r Roles, err error) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(roleNames(), strings.TrimSpace(name))
		if i < 0 {
			return 0, fmt.Errorf("role %q: must be one of %s", name, strings.Join(roleNames(), ", "))
		}
		r |= 1 << i
	}
	return r, nil
}
