package proto

import (
	"fmt"
	"slices"
	"strings"
)

// Strategy is how the blocks of a coded transfer go round.
type Strategy uint8

// The strategies. All but [Mobs] are permutation gossip in one cluster, of
// generations one after the other, with two ways to overlap them, and of plain blocks
// one generation after the other.
const (
	Mobs Strategy = iota
	Sequential
	Overlap1
	Overlap2
	RandomBlock
	strategies
)

// strategyNames are for links and people.
//
//nolint:gochecknoglobals // a table
var strategyNames = [strategies]string{"", "permutation", "overlap1", "overlap2", "rb"}

// StrategyNames are those of permutation gossip.
func StrategyNames() []string { return strategyNames[1:] }

// ParseStrategy is the inverse of String; "" is [Mobs].
func ParseStrategy(name string) (Strategy, error) {
	i := slices.Index(strategyNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("strategy %q: want one of %s", name, strings.Join(StrategyNames(), ", "))
	}
	return Strategy(i), nil
}

// String is the name, empty for [Mobs].
func (s Strategy) String() string {
	if s >= strategies {
		return "?"
	}
	return strategyNames[s]
}

// Gossip says whether nodes send each other blocks by permutations.
func (s Strategy) Gossip() bool { return s != Mobs }
