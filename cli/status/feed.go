package status

import (
	"fmt"
	"strings"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/feed"
)

// feedLines describes the feeds of a node: a line for each, and for each follower of a feed that it publishes.
func feedLines(all []feed.Info) (lines []string) {
	for _, f := range all {
		facts := []string{fmt.Sprintf("version %d", f.Complete)}
		switch {
		case f.Newest == 0:
			facts[0] = "no version yet"
		case f.Newest > f.Complete:
			facts = append(facts, fmt.Sprintf("fetching version %d", f.Newest))
		}
		if f.Saved > 0 {
			facts = append(facts, term.Bytes(f.Saved)+" not fetched, since earlier versions had it")
		}
		if f.Error != "" {
			facts = append(facts, f.Error)
		}
		what := "publishes"
		if f.Dir != "" {
			what = "follows in " + f.Dir
		}
		lines = append(lines, fmt.Sprintf("feed %s (%s): %s", f.Name, what, strings.Join(facts, ", ")))
		for _, r := range f.Followers {
			lag := "no report yet"
			if r.Seq > 0 {
				lag = fmt.Sprintf("version %d", r.Seq)
			}
			if behind := int64(f.Newest - r.Seq); r.Seq > 0 && behind > 0 {
				lag += fmt.Sprintf(", %s behind", term.Plural(int(behind), "version"))
			}
			if r.Saved > 0 {
				lag += fmt.Sprintf(", %s not fetched, since earlier versions had it", term.Bytes(r.Saved))
			}
			lines = append(lines, fmt.Sprintf("  %s of %s: %s", r.Node, r.Cluster, lag))
		}
	}
	return lines
}
