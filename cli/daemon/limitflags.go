package daemon

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/peer/limit"
)

// LimitFlags are the flags of a node about its limits, and their schedule.
type LimitFlags struct {
	texts    [len(limit.Names)]string
	schedule limit.Schedule
}

// limitHelp has the help of each limit.
//
//nolint:gochecknoglobals // a constant table
var limitHelp = [len(limit.Names)]string{
	"limit of bytes received over the WAN, per second, such as 50MB or 400Mbit; 0 for none",
	"limit of bytes sent over the WAN, per second",
	"limit of bytes sent over the LAN, per second",
	"limit of bytes received over the WAN by all nodes of the site together, per second",
}

// Add adds the flags, with the limit of the cluster for a daemon.
func (l *LimitFlags) Add(f *pflag.FlagSet, daemon bool) {
	for i, name := range limit.Names {
		if daemon || name != "cluster-wan-down" {
			f.StringVar(&l.texts[i], name, "", limitHelp[i])
		}
	}
}

// AddPriority adds the flag of a transfer's priority.
func AddPriority(f *pflag.FlagSet, p *limit.Priority) {
	f.Func("priority", "priority among the transfers of this node: `low|normal|high` (default normal)",
		func(text string) error { return p.UnmarshalText([]byte(text)) })
}

// Change parses the flags that are given.
func (l *LimitFlags) Change() (c limit.Change, err error) {
	for i, name := range limit.Names {
		if l.texts[i] == "" {
			continue
		}
		if err := c.Set(name, l.texts[i]); err != nil {
			return c, fmt.Errorf("--%w", err)
		}
	}
	return c, nil
}

// readTable reads the entries [[limit]] of a configuration.
func (l *LimitFlags) readTable(value any) error {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for i, v := range list {
		entry, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("must be [[limit]] and lines such as wan-down = \"20MB\", not %v", v)
		}
		e, err := readLimitEntry(entry)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		l.schedule = append(l.schedule, e)
	}
	return nil
}

func readLimitEntry(entry map[string]any) (limit.Entry, error) {
	var c limit.Change
	when := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		text := fmt.Sprint(entry[key])
		switch {
		case text == "":
			return limit.Entry{}, fmt.Errorf("%s must not be empty", key)
		case key == "days" || key == "hours":
			when[key] = text
			continue
		}
		if err := c.Set(key, text); err != nil {
			return limit.Entry{}, err
		}
	}
	return limit.NewEntry(when["days"], when["hours"], c)
}
