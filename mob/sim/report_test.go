package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Share is the share of the bound that was reached, 0 if nodes are missing.
func (r *Report) Share() float64 {
	if r.Missing > 0 || r.Time == 0 {
		return 0
	}
	return r.Ideal.Seconds() / r.Time.Seconds()
}

// String formats the report in a few lines.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "time %.2f s, ideal %.2f s, share %.3f", r.Time.Seconds(), r.Ideal.Seconds(), r.Share())
	if r.Missing > 0 {
		fmt.Fprintf(&b, ", %d NODES MISSING", r.Missing)
	}
	b.WriteString("\ncopies")
	for _, c := range append(slices.Clone(r.Copies), r.RackCopies...) {
		fmt.Fprintf(&b, " %s %.3f", c.Cluster, c.Copies)
	}
	fmt.Fprintf(&b, "\ncontrol WAN %.4f, duplicate %d, ", r.Control, r.Duplicate)
	fmt.Fprintf(&b, "doubled %d, again %d, rejects %d, failed %d, useless %d\n", r.Doubled, r.Again, r.Rejects, r.Failed, r.Useless)
	b.WriteString("idle")
	for _, l := range r.Links {
		fmt.Fprintf(&b, " %s%s %.3f", l.From, l.To, l.Idle)
	}
	b.WriteString("\nmessages")
	types := make([]proto.Type, 0, len(r.Messages))
	for t := range r.Messages {
		types = append(types, t)
	}
	slices.Sort(types)
	for _, t := range types {
		fmt.Fprintf(&b, " %d: %d/%d", t, r.Messages[t].Messages, r.Messages[t].Bytes)
	}
	finished := slices.DeleteFunc(slices.Clone(r.Finished), func(d time.Duration) bool { return d == 0 })
	slices.Sort(finished)
	if len(finished) > 0 {
		fmt.Fprintf(&b, "\nfinished from %.2f s, median %.2f s", finished[0].Seconds(), finished[len(finished)/2].Seconds())
	}
	return b.String()
}
