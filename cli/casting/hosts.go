package casting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cast/hostset"
	"github.com/mobgrid/mob/cli/term"
)

// stallAfter is the time without progress until a host is shown as making none.
const stallAfter = 10 * time.Second

// sourceName returns the name of the source for people.
func sourceName(cfg *cast.Config) string {
	if cfg.Source == "-" && cfg.Output == "" {
		return "standard input"
	}
	return cfg.Source
}

// way returns the direction of the copies: "to" or "from" hosts.
func way(cfg *cast.Config) string {
	if cfg.Output != "" {
		return "from"
	}
	return "to"
}

// hosts are all hosts of a cast, or some of them.
type hosts []cast.HostResult

// in returns the hosts in a phase.
func (hs hosts) in(phase cast.Phase) (some hosts) {
	for _, h := range hs {
		if h.Phase == phase {
			some = append(some, h)
		}
	}
	return some
}

// phases yields each phase that hosts are in, in the order of the phases.
func (hs hosts) phases(yield func(cast.Phase, hosts) bool) {
	for _, p := range []cast.Phase{cast.Waiting, cast.Login, cast.Program, cast.Start, cast.Fetching, cast.Done, cast.Failed} {
		if some := hs.in(p); len(some) > 0 && !yield(p, some) {
			return
		}
	}
}

// fold returns the set of the hosts.
func (hs hosts) fold() string {
	names := make([]string, len(hs))
	for i, h := range hs {
		names[i] = h.Name
	}
	return hostset.Fold(names)
}

// slowest formats the host with the fewest bytes, and what it waits for. length is -1 if it is not known.
func (hs hosts) slowest(length int64) string {
	least := slices.MinFunc(hs, func(a, b cast.HostResult) int {
		return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), a.Moved.Compare(b.Moved))
	})
	text := fmt.Sprintf("%s, %s", least.Name, term.Bytes(least.Bytes))
	if length >= 0 {
		text = fmt.Sprintf("%s, %d%%", least.Name, term.Percent(least.Bytes, length+least.Length))
	}
	if still := time.Since(least.Moved); still > stallAfter {
		text += fmt.Sprintf(", no progress for %s", term.Duration(still))
	}
	if least.Waiting != "" {
		text += ", waiting for " + least.Waiting
	}
	return text
}

// cause is a group of hosts that failed for the same reason.
type cause struct {
	hosts hosts
	text  string
}

// String returns the set of the hosts, and the reason if there is one.
func (c cause) String() string { return strings.TrimSpace(c.hosts.fold() + " " + c.text) }

// causes groups hosts by why they failed, the most frequent reason first.
func (hs hosts) causes() (all []cause) {
	for _, h := range hs {
		text := h.Error
		if h.Overwriting {
			text = strings.TrimPrefix(text+"; what was at DEST is partly overwritten", "; ")
		}
		i := slices.IndexFunc(all, func(c cause) bool { return c.text == text })
		if i < 0 {
			i, all = len(all), append(all, cause{text: text})
		}
		all[i].hosts = append(all[i].hosts, h)
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(len(b.hosts), len(a.hosts)) })
	return all
}
