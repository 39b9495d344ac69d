package proto

import (
	"fmt"
	"slices"
	"strings"
)

// Strategy is how the members of a coded transfer exchange blocks.
type Strategy uint8

// The strategies. All but [ReceiverDriven] are permutation gossip within one cluster
// (Cooper), which differs in when nodes go on to the next generation: Sequential once all
// nodes have decoded a generation, Overlap1 and Overlap2 before that. RandomBlock is the
// baseline: plain blocks, one generation after the other.
const (
	// ReceiverDriven: members request blocks from each other.
	ReceiverDriven Strategy = iota
	Sequential
	Overlap1
	Overlap2
	RandomBlock
	strategies
)

// strategyNames are the names in links and on the command line.
//
//nolint:gochecknoglobals // a table
var strategyNames = [strategies]string{"", "permutation", "overlap1", "overlap2", "rb"}

// StrategyNames returns the names of all strategies but [ReceiverDriven], which has none.
func StrategyNames() []string { return strategyNames[1:] }

// ParseStrategy is the inverse of [Strategy.String]; "" is [ReceiverDriven].
func ParseStrategy(name string) (Strategy, error) {
	i := slices.Index(strategyNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("strategy %q: want one of %s", name, strings.Join(StrategyNames(), ", "))
	}
	return Strategy(i), nil
}

// String returns the name, which is empty for [ReceiverDriven].
func (s Strategy) String() string {
	if s >= strategies {
		return "?"
	}
	return strategyNames[s]
}

// Gossip reports whether s is permutation gossip.
func (s Strategy) Gossip() bool { return s != ReceiverDriven }
