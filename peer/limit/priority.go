package limit

import (
	"cmp"
	"fmt"
	"slices"
)

// Priority is the priority of a transfer among the transfers of a node: [Low], [Normal] or [High]. The empty one counts
// as Normal.
type Priority string

// Priorities.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Priority) UnmarshalText(text []byte) error {
	*p = Priority(text)
	if !slices.Contains([]Priority{Low, Normal, High}, *p) {
		return fmt.Errorf("priority %q: must be low, normal or high", text)
	}
	return nil
}

// level orders priorities, Low as 1.
func (p Priority) level() int {
	return 1 + slices.Index([]Priority{Low, Normal, High}, cmp.Or(p, Normal))
}
