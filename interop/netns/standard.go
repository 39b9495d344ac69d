package netns

import (
	"fmt"
	"strings"
	"time"
)

// MayhemPeriod is how long rates hold in the standard mayhem scenario.
const MayhemPeriod = 2 * time.Second

// Fast is the standard grid of four clusters, with 12 MB/s in and out of each.
func Fast() Links {
	return Links{}.
		With("A", "B", 3*MBps).With("A", "C", 3*MBps).With("A", "D", 6*MBps).
		With("B", "C", 6*MBps).With("B", "D", 3*MBps).
		With("C", "D", 3*MBps)
}

// Slow is Fast with its two best links, A-D and B-C, down to 0.8 MB/s.
func Slow() Links {
	return Fast().With("A", "D", 0.8*MBps).With("B", "C", 0.8*MBps)
}

// StandardNames lists the scenarios that Standard knows, in the order in which results are shown.
func StandardNames() []string {
	return []string{"fast", "slow", "fast-slow", "slow-fast", "mayhem"}
}

// Standard returns one of the scenarios of the test grid for a transfer of size bytes from the source's cluster: fast and slow
// stay as they are, fast-slow and slow-fast change after a third of their ideal time, mayhem draws from the seed. The error
// names the scenarios that exist.
func Standard(name, source string, size int64, seed uint64) (Scenario, error) {
	switch name {
	case "fast":
		return Steady(Fast()), nil
	case "slow":
		return Steady(Slow()), nil
	case "fast-slow":
		return SwitchAtThird(Fast(), Slow(), source, size), nil
	case "slow-fast":
		return SwitchAtThird(Slow(), Fast(), source, size), nil
	case "mayhem":
		return Mayhem(Fast(), MayhemPeriod, seed), nil
	}
	return nil, fmt.Errorf("netns: no scenario %q: use one of %s", name, strings.Join(StandardNames(), ", "))
}
